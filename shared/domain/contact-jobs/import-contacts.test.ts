import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql, inTransaction } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { startTestApi, type TestApi, type TestProject } from '../../../tests/support/api.ts';
import { createContactBatch } from './contact-batch.ts';
import { importContacts, importSource } from './import-contacts.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

/** What an import has made of the contacts of a project. */
async function stateOf({ project: { id } }: TestProject) {
  return {
    contacts: await query(
      app.em(),
      sql`select email, subscribed, opted_out_at is null as "isOpen", data from contact where project_id = ${id} order by email`,
    ),
    events: await query(
      app.em(),
      sql`
        select c.email, e.name from event e join contact c on c.id = e.contact_id
        where e.project_id = ${id} order by c.email, e.name`,
    ),
    exceptions: await query(
      app.em(),
      sql`select cardinality(except_ids) as count from imported_consent where project_id = ${id}`,
    ),
  };
}

async function importInto(owner: TestProject, emails: readonly string[], isForNew: boolean) {
  const job = { id: randomUUID(), projectId: owner.project.id, createdAt: new Date() };
  const rows = emails.map((email, row) => ({ row, email, subscribed: row % 3 > 0, data: `{"row":${row}}` }));
  const source = { ...importSource(job), isForNew };
  const { changed, ...counts } = await inTransaction(app.em(), (tx) =>
    importContacts(tx, source, createContactBatch(rows)),
  );
  return { ...counts, changed: changed.size };
}

it.each([
  ['nobody', []],
  ['somebody', ['b@x.test']],
  ['everybody', ['a@x.test', 'b@x.test', 'c@x.test', 'd@x.test']],
])('rows do the same where %s exists, whether or not they are expected to be new', async (_, existing) => {
  const outcomes = await Promise.all(
    [false, true].map(async (isForNew) => {
      const owner = await app.createProject();
      for (const email of existing) await owner.api('POST', '/contacts', { body: { email, data: { kept: true } } });
      const counts = await importInto(owner, ['d@x.test', 'b@x.test', 'a@x.test', 'c@x.test', 'b@x.test'], isForNew);
      return { counts, ...(await stateOf(owner)) };
    }),
  );
  expect(outcomes[1]).toEqual(outcomes[0]);
  expect(outcomes[1]?.counts).toMatchObject({ createdCount: 4 - existing.length, updatedCount: 1 + existing.length });
  expect(outcomes[1]?.contacts).toHaveLength(4);
});
