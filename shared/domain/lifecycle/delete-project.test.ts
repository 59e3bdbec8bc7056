import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import type { Em } from '../../database/em.ts';
import { sql } from '../../database/sql.ts';
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
