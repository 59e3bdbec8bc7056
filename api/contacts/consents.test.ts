import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { query } from '../../tests/support/rows.ts';
import { sql } from '../../shared/database/sql.ts';
import { setSubscribed } from '../../shared/domain/contacts/contacts.ts';
import { recordConsents, wordingId } from '../../shared/domain/consent/records.ts';
import { createContactBatch } from '../../shared/domain/contact-jobs/contact-batch.ts';
import { importContacts, importSource } from '../../shared/domain/contact-jobs/import-contacts.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const address = () => `${randomUUID()}@mail.test`;

async function idOf(email: string): Promise<string> {
  const { body } = await app.api('GET', `/contacts?search=${encodeURIComponent(email)}`);
  return body.data[0].id;
}

async function consentsOf(email: string) {
  return (await app.api('GET', `/contacts/${await idOf(email)}/consents`)).body.data;
}

const jobId = randomUUID();
async function importRows(...rows: { email: string; subscribed?: boolean; hasLeft?: boolean }[]): Promise<void> {
  const batch = createContactBatch(rows.map((row, index) => ({ row: index + 2, data: '{}', ...row }) as never));
  const job = { id: jobId, projectId: app.project.id, createdAt: new Date() };
  await app.em().transactional((tx) => importContacts(tx, importSource(job), batch));
}

const send = (email: string, subscribed: boolean) =>
  app.api('POST', '/v1/send', { body: { to: email, subject: 'S', body: 'B', from: 'a@example.com', subscribed } });

const doors: [string, (email: string, subscribed: boolean) => Promise<unknown>, object][] = [
  [
    'POST /contacts',
    (email, subscribed) => app.api('POST', '/contacts', { body: { email, subscribed } }),
    { reason: 'api', endpoint: 'POST /contacts', key: 'secret' },
  ],
  ['POST /v1/send', send, { reason: 'send', key: 'secret' }],
  [
    'POST /v1/track',
    (email, subscribed) => app.api('POST', '/v1/track', { key: 'public', body: { email, event: 'e', subscribed } }),
    { reason: 'track', key: 'public' },
  ],
  [
    'POST /events/track',
    (email, subscribed) => app.api('POST', '/events/track', { body: { email, event: 'e', subscribed } }),
    { reason: 'track', key: 'secret' },
  ],
  ['an import', (email, subscribed) => importRows({ email, subscribed }), { reason: 'import', jobId }],
  [
    'a segment',
    async (email, subscribed) => {
      const { body } = await app.api('POST', '/segments', { body: { name: randomUUID(), type: 'STATIC' } });
      await app.api('POST', `/segments/${body.id}/members`, {
        body: { emails: [email], createMissing: true, subscribed },
      });
    },
    { reason: 'api', endpoint: 'POST /segments/:id/members', key: 'secret' },
  ],
];

it.each(doors)('a contact that is created as subscribed begins with one entry: %s', async (_door, create, cause) => {
  const [subscribed, unsubscribed] = [address(), address()];
  await create(subscribed, true);
  await create(subscribed, true);
  await create(unsubscribed, false);
  const entry = { topic: null, state: 'subscribed', cause, clientAddress: null, wording: null };
  expect(await consentsOf(subscribed)).toEqual([{ ...entry, id: expect.any(String), at: expect.any(String) }]);
  expect(await consentsOf(unsubscribed)).toEqual([]);
});

it('the entries of an import are those of its new subscribed contacts only', async () => {
  const [known, left, first, second] = Array.from({ length: 4 }, address) as [string, string, string, string];
  await app.api('POST', '/contacts', { body: { email: known } });
  await importRows(
    { email: known },
    { email: left, subscribed: false, hasLeft: true },
    { email: first },
    { email: second },
  );
  expect((await consentsOf(known)).map(({ cause }: any) => cause.reason)).toEqual(['api']);
  expect(await consentsOf(left)).toEqual([]);
  await importRows({ email: first, subscribed: false }, { email: left, subscribed: true });
  expect((await consentsOf(first)).map(({ state, cause }: any) => [state, cause.jobId])).toEqual([
    ['unsubscribed', jobId],
    ['subscribed', jobId],
  ]);
  expect(await consentsOf(left)).toHaveLength(1);
  expect(await consentsOf(second)).toHaveLength(1);
});

it('an import of 10,000 rows gives each new contact its entry', async () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => ({
    email: `i${i}-${randomUUID()}@mail.test`,
    subscribed: i % 10 !== 0,
  }));
  for (let start = 0; start < rows.length; start += 2_500) await importRows(...rows.slice(start, start + 2_500));
  const [{ of }] = await query(
    app.em(),
    sql`
      select count(*)::int as of from contact c join imported_consent i on c.created_at = i.created_at
        and c.id between first_contact_id and last_contact_id and c.id <> all(except_ids)
      where c.subscribed and c.email like 'i%'`,
  );
  expect(of).toBe(9_000);
  expect(await consentsOf(rows[1]!.email)).toHaveLength(1);
  expect(await consentsOf(rows[10]!.email)).toHaveLength(0);
});

it('pages go back to the first entry, each entry once', async () => {
  const email = address();
  await importRows({ email });
  const id = await idOf(email);
  for (const subscribed of [false, true, false, true])
    await app.api('PATCH', `/contacts/${id}`, { body: { subscribed } });
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await app.api('GET', `/contacts/${id}/consents?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.data.map(({ id, state }: any) => `${id} ${state}`));
    ({ cursor } = body);
    if (!body.hasMore) break;
  }
  expect(new Set(seen).size).toBe(5);
  expect(seen.map((entry) => entry.split(' ')[1])).toEqual([
    'subscribed',
    'unsubscribed',
    'subscribed',
    'unsubscribed',
    'subscribed',
  ]);
  expect((await app.api('GET', `/contacts/${id}/consents?cursor=x`)).status).toBe(400);
});

it('an entry shows the topic, the words and the address that it names', async () => {
  const email = address();
  await app.api('POST', '/contacts', { body: { email, subscribed: false } });
  const contactId = await idOf(email);
  const evidence = { clientAddress: '203.0.113.0/24', wordingId: await wordingId(app.em(), 'Monthly news') };
  const [topicId, emailId] = [randomUUID(), randomUUID()];
  await query(
    app.em(),
    sql`
    insert into topic (id, project_id, key, name, default_subscription, created_at, updated_at)
    values (${topicId}, ${app.project.id}, 'news', 'News', 'opt_in', now(), now())`,
  );
  const cause = { reason: 'link', emailId } as const;
  await recordConsents(app.em(), app.project.id, [{ contactId, topicId, state: 'subscribed', cause, evidence }]);
  await query(app.em(), sql`delete from topic where id = ${topicId}`);
  expect(await consentsOf(email)).toMatchObject([
    {
      topic: { id: topicId, key: 'news' },
      state: 'subscribed',
      cause,
      clientAddress: '203.0.113.0/24',
      wording: { id: evidence.wordingId, text: 'Monthly news' },
    },
  ]);
});

it('changes at the same time leave one entry for each change, and a change that fails leaves none', async () => {
  const email = address();
  await app.api('POST', '/contacts', { body: { email } });
  const id = await idOf(email);
  await Promise.all(
    Array.from({ length: 8 }, () => app.api('PATCH', `/contacts/${id}`, { body: { subscribed: false } })),
  );
  expect(await consentsOf(email)).toHaveLength(2);
  const failing = app.em().transactional(async (tx) => {
    await setSubscribed(tx, app.project.id, [id], true, { reason: 'send' });
    throw new Error('undone');
  });
  await expect(failing).rejects.toThrow('undone');
  expect(await consentsOf(email)).toHaveLength(2);
});

it('nobody sees the record of another project', async () => {
  const email = address();
  await app.api('POST', '/contacts', { body: { email } });
  const other = await startTestApi();
  try {
    expect((await other.api('GET', `/contacts/${await idOf(email)}/consents`)).body.error.code).toBe(
      'CONTACT_NOT_FOUND',
    );
  } finally {
    await other.stop();
  }
});
