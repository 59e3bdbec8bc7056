import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createContactBatch } from '../shared/domain/contact-jobs/contact-batch.ts';
import { importContacts, importSource } from '../shared/domain/contact-jobs/import-contacts.ts';
import { deleteContacts } from '../shared/domain/lifecycle/delete-contacts.ts';
import { sql, inTransaction } from '../shared/database/sql.ts';
import { queryOne } from './support/rows.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { untilBlocked } from './support/database.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function addContact(email: string): Promise<string> {
  return (await app.api('POST', '/contacts', { body: { email } })).body.id;
}

function importRow(email: string, queuedAt: Date, isForNew = false) {
  const rows = [{ row: 2, email, subscribed: undefined, data: '{}' }];
  const source = { ...importSource({ id: randomUUID(), projectId: app.project.id, createdAt: queuedAt }), isForNew };
  return inTransaction(app.em(), (tx) => importContacts(tx, source, createContactBatch(rows)));
}

async function isThere(email: string): Promise<boolean> {
  const { body } = await app.api('GET', `/contacts?search=${email}`);
  return body.data.length > 0;
}

it.each([false, true])(
  'an import does not restore a contact that was deleted after the upload; expected to be new: %p',
  async (isForNew) => {
    const email = `gone-${isForNew}@mail.test`;
    const queuedAt = new Date();
    const id = await addContact(email);
    await app.api('DELETE', `/contacts/${id}`);
    const refused = await importRow(email, queuedAt, isForNew);
    expect(refused).toMatchObject({ createdCount: 0, updatedCount: 0, erasedCount: 1 });
    expect(await isThere(email)).toBe(false);
    const restored = await importRow(email, new Date(), isForNew);
    expect(restored).toMatchObject({ createdCount: 1, erasedCount: 0 });
    const { id: successor } = (await app.api('GET', `/contacts?search=${email}`)).body.data[0];
    const erased = await queryOne(app.em(), sql`select successor_id from erased_contact where contact_id = ${id}`);
    expect(erased).toEqual({ successor_id: successor });
  },
);

it('an import that waits for a deletion does not restore the contact', async () => {
  const queuedAt = new Date();
  const id = await addContact('waits@mail.test');
  const deleting = app.em();
  await deleting.begin();
  await deleteContacts(deleting, app.project.id, [id]);
  const imported = importRow('waits@mail.test', queuedAt);
  await untilBlocked(app.em, 1);
  await deleting.commit();
  expect(await imported).toMatchObject({ createdCount: 0 });
  expect(await isThere('waits@mail.test')).toBe(false);
});
