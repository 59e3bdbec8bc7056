import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function write(owner: TestProject, contacts: unknown[]): Promise<any> {
  const { status, body } = await owner.api('POST', '/contacts/bulk', { body: { contacts } });
  expect([status, body]).toEqual([200, expect.anything()]);
  return body;
}
const outcomes = (body: any) => body.results.map(({ email, outcome }: any) => [email, outcome]);
const find = async (owner: TestProject, email: string) =>
  (await owner.api('GET', `/contacts?search=${encodeURIComponent(email)}`)).body.data[0];

it('creates, updates and leaves contacts, and says so of each in their order', async () => {
  const owner = await app.createProject();
  await owner.api('POST', '/topics', { body: { key: 'news', name: 'News', defaultSubscription: 'opt_out' } });
  const same = (await owner.api('POST', '/contacts', { body: { email: 'same@x.test', data: { a: 1 } } })).body;
  await owner.api('POST', '/contacts', { body: { email: 'old@x.test', data: { a: 1, b: 2 } } });
  const body = await write(owner, [
    { email: ' New@X.test ', subscribed: false, data: { plan: 'pro' }, topics: { news: true }, trackingAllowed: true },
    { email: 'same@x.test', data: { a: 1 }, subscribed: true },
    { email: 'nobody', subscribed: 'perhaps' },
    { email: 'old@x.test', data: { a: null, c: 3 }, subscribed: false },
    { email: 'topic@x.test', topics: { weekly: true } },
    'no object',
    { email: 'new@x.test', data: { plan: null, seats: 5 } },
  ]);
  expect(outcomes(body)).toEqual([
    ['new@x.test', 'created'],
    ['same@x.test', 'unchanged'],
    ['nobody', 'error'],
    ['old@x.test', 'updated'],
    ['topic@x.test', 'error'],
    [null, 'error'],
    ['new@x.test', 'updated'],
  ]);
  expect(body).toMatchObject({ createdCount: 1, updatedCount: 2, unchangedCount: 1, failureCount: 3 });
  const fields = (index: number) => body.results[index].errors.map(({ field }: any) => field);
  expect([2, 4, 5].map(fields)).toEqual([['email', 'subscribed'], ['topics.weekly'], ['contacts']]);
  const created = await find(owner, 'new@x.test');
  expect(created).toMatchObject({
    id: body.results[0].id,
    subscribed: false,
    trackingAllowed: true,
    data: { seats: 5 },
    topics: { news: true },
  });
  expect(await find(owner, 'old@x.test')).toMatchObject({ subscribed: false, data: { b: 2, c: 3 } });
  expect(await find(owner, 'same@x.test')).toMatchObject({ id: same.id, updatedAt: same.updatedAt });
  expect(await find(owner, 'topic@x.test')).toBeUndefined();
});

it('records consents and events as one request for each would', async () => {
  const owner = await app.createProject();
  const id = (await owner.api('POST', '/contacts', { body: { email: 'left@x.test', subscribed: false } })).body.id;
  const body = await write(owner, [{ email: 'left@x.test', subscribed: true }, { email: 'new@x.test' }]);
  const cause = { reason: 'api', endpoint: 'POST /contacts/bulk' };
  for (const contactId of [id, body.results[1].id]) {
    const { body: consents } = await owner.api('GET', `/contacts/${contactId}/consents`);
    expect(consents.data[0]).toMatchObject({ state: 'subscribed', cause });
  }
  const events = await query(app.em(), sql`select name, data from event where contact_id = ${id}`);
  expect(events).toEqual([{ name: 'contact.subscribed', data: cause }]);
  const again = await write(owner, [{ email: 'left@x.test', subscribed: true }, { email: 'new@x.test' }]);
  expect(again.unchangedCount).toBe(2);
});

it('tells a change of topics or tracking alone from none', async () => {
  const owner = await app.createProject();
  await owner.api('POST', '/topics', { body: { key: 'news', name: 'News', defaultSubscription: 'opt_out' } });
  const rows = [
    { email: 'a@x.test', topics: { news: true } },
    { email: 'b@x.test', trackingAllowed: false },
    { email: 'c@x.test' },
  ];
  await write(
    owner,
    rows.map(({ email }) => ({ email })),
  );
  expect(outcomes(await write(owner, rows)).map(([, outcome]: string[]) => outcome)).toEqual([
    'updated',
    'updated',
    'unchanged',
  ]);
  expect((await write(owner, rows)).unchangedCount).toBe(3);
});

it('refuses what is too large alone', async () => {
  const owner = await app.createProject();
  const text = 'x'.repeat(40_000);
  await write(owner, [{ email: 'full@x.test', data: { a: text } }]);
  const body = await write(owner, [
    { email: 'full@x.test', data: { b: text } },
    { email: 'ok@x.test', data: { b: 1 } },
    { email: 'one@x.test', data: { a: text, b: text } },
  ]);
  expect(outcomes(body).map(([, outcome]: string[]) => outcome)).toEqual(['error', 'created', 'error']);
  expect(body.results[0].errors[0].field).toBe('data');
  await query(
    app.em(),
    sql`
      insert into contact_field (project_id, key, type)
      select ${owner.project.id}, 'k' || i, 'string' from generate_series(1, ${LIMITS.contactFieldsPerProject - 3}::int) i`,
  );
  const fields = await write(owner, [
    { email: 'p@x.test', data: { more: 1, evenMore: 2 } },
    { email: 'q@x.test', data: { more: 1 } },
  ]);
  expect(outcomes(fields)).toEqual([
    ['p@x.test', 'error'],
    ['q@x.test', 'created'],
  ]);
});

it('takes 1 to 1,000 contacts, and an Idempotency-Key', async () => {
  const owner = await app.createProject();
  const contacts = Array.from({ length: 1_001 }, (_, index) => ({ email: `c${index}@x.test` }));
  for (const body of [{ contacts }, { contacts: [] }, {}, { contacts: {} }]) {
    expect((await owner.api('POST', '/contacts/bulk', { body })).status).toBe(422);
  }
  const options = { body: { contacts: contacts.slice(1) }, headers: { 'idempotency-key': 'once' } };
  const first = await owner.api('POST', '/contacts/bulk', options);
  expect([first.status, first.body.createdCount, first.body.results.length]).toEqual([200, 1_000, 1_000]);
  expect((await owner.api('POST', '/contacts/bulk', options)).status).toBe(409);
});

it('lets requests with the same new contacts run at the same time', async () => {
  const owner = await app.createProject();
  const contacts = Array.from({ length: 200 }, (_, index) => ({ email: `c${index}@x.test`, data: { index } }));
  const bodies = await Promise.all([1, 2, 3, 4].map(() => write(owner, contacts)));
  const total = (kind: string) => bodies.map((body) => Number(body[kind])).reduce((sum, count) => sum + count);
  expect([total('createdCount'), total('unchangedCount'), total('failureCount')]).toEqual([200, 600, 0]);
});
