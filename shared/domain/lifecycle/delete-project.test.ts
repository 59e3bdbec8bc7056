import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { joinSql, sql, SqlFragment, type Em } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { deleteProject } from './delete-project.ts';

const OF_OTHER = 30_000;
const OWN = 12_000;

let database: TestDatabase;
let projectId: string;
const em = () => database.orm.em.fork();

async function addContacts(owner: string, count: number): Promise<void> {
  await query(
    em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${owner}, n || '@mail.test', true, now(), now()
      from generate_series(1, ${count}::int) n`,
  );
}

beforeAll(async () => {
  database = await createTestDatabase();
  await addContacts((await createProject(em(), 'Other')).project.id, OF_OTHER);
  projectId = (await createProject(em(), 'Deleted')).project.id;
  await addContacts(projectId, OWN);
  await query(em(), sql`vacuum (analyze) contact`);
}, 60_000);
afterAll(() => database.drop());

/** The contacts that full scans of this transaction have read. */
async function contactsScanned(tx: Em): Promise<number> {
  const reads = await queryOne(
    tx,
    sql`select seq_tup_read::int as rows from pg_stat_xact_user_tables where relname = 'contact'`,
  );
  return reads?.rows ?? Number.NaN;
}

it('the deletion of a project does not go through the contacts of other projects', async () => {
  const tx = em();
  await tx.begin();
  try {
    const before = await contactsScanned(tx);
    expect(await deleteProject(tx, projectId, async () => undefined)).toBeGreaterThanOrEqual(OWN);
    expect((await contactsScanned(tx)) - before).toBe(0);
  } finally {
    await tx.rollback();
  }
});

it('the deletion of a project takes what its contacts chose, and leaves that of others', async () => {
  const tables = ['consent_record', 'imported_consent', 'topic', 'topic_subscription', 'opt_in'];
  const { project } = await createProject(em(), 'Chosen');
  const { project: kept } = await createProject(em(), 'Kept');
  for (const { id } of [project, kept]) {
    const contact = randomUUID();
    const topic = randomUUID();
    await query(
      em(),
      sql`
      with c as (insert into contact (id, project_id, email, subscribed, created_at, updated_at)
        values (${contact}, ${id}, 'a@mail.test', true, now(), now())),
      t as (insert into topic (id, project_id, key, name, default_subscription, created_at, updated_at)
        values (${topic}, ${id}, 'news', 'News', 'opt_in', now(), now())),
      r as (insert into consent_record (contact_id, id, project_id, state, cause)
        values (${contact}, everpost_uuid_v7(), ${id}, 'subscribed', 'api')),
      i as (insert into imported_consent (id, project_id, job_id, first_contact_id, last_contact_id, except_ids)
        values (everpost_uuid_v7(), ${id}, ${topic}, ${contact}, ${contact}, '{}'))
      insert into opt_in (id, project_id, contact_id, is_first, expires_at)
      values (everpost_uuid_v7(), ${id}, ${contact}, false, now())`,
    );
    await query(em(), sql`insert into topic_subscription values (${topic}, ${contact}, true)`);
  }
  const countAll = async () => {
    const counts = tables.map((table) => new SqlFragment(`(select count(*)::int from ${table})`));
    return Object.values(await queryOne(em(), sql`select array[${joinSql(counts, ', ')}] as counts`))[0];
  };
  expect(await countAll()).toEqual([2, 2, 2, 2, 2]);
  await deleteProject(em(), project.id, async () => undefined);
  expect(await countAll()).toEqual([1, 1, 1, 1, 1]);
});
