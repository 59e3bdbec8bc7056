import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CompiledQuery } from 'kysely';
import { sql, type Em, type SqlFragment } from '../shared/database/sql.ts';
import { listEmails } from '../shared/domain/emails/email-lists.ts';
import { createProject } from '../shared/domain/projects/projects.ts';
import { pageOfSuppressions } from '../shared/domain/suppressions/suppression-lists.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { query } from './support/rows.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const em = () => database.orm.em.fork();

/** A unit of work in which a statement is run before each second one, unless they share a snapshot. */
function disturbed(statement: SqlFragment): Em {
  const unit = em();
  const kysely = unit.getKysely();
  let count = 0;
  const executeQuery = async (compiled: CompiledQuery) => {
    if (++count % 2 === 0) await query(em(), statement);
    return kysely.executeQuery(compiled);
  };
  unit.getKysely = () => Object.create(kysely, { executeQuery: { value: executeQuery } });
  return unit;
}

it('a walk through emails misses none when others go meanwhile', async () => {
  const { id } = (await createProject(em(), 'P')).project;
  await query(
    em(),
    sql`
      insert into email (id, project_id, to_address, status, tags, created_at)
      select gen_random_uuid(), ${id}, n || '@example.com', 'SENT', jsonb_build_array('t' || n % 2),
        now() - n * interval '1 second'
      from generate_series(1, 7000) n`,
  );
  const statement = sql`
    delete from email where id in (
      select id from email where project_id = ${id} and tags @> '["t1"]' order by created_at desc limit 900)`;
  let found = 0;
  let after;
  do {
    const page = await listEmails(disturbed(statement), id, { tag: 't0', limit: 5_000, after });
    found += page.emails.length;
    after = page.next;
  } while (after);
  expect(found).toBe(3_500);
});

it('a walk through suppressions misses none when others go meanwhile', async () => {
  const { id } = (await createProject(em(), 'P')).project;
  await query(
    em(),
    sql`
      insert into suppression (project_id, address_hash, email, reason, created_at)
      select ${id}, sha256(n::text::bytea), n || '@example.com', case n % 2 when 0 then 'MANUAL' else 'COMPLAINT' end,
        now() - n * interval '1 second'
      from generate_series(1, 12000) n`,
  );
  const statement = sql`
    delete from suppression where address_hash in (
      select address_hash from suppression where project_id = ${id} and reason = 'COMPLAINT'
      order by created_at desc limit 900)`;
  let found = 0;
  let after;
  do {
    const page = await pageOfSuppressions(disturbed(statement), id, { reason: 'MANUAL', limit: 5_000, after });
    found += page.suppressions.length;
    after = page.next;
  } while (after);
  expect(found).toBe(6_000);
});
