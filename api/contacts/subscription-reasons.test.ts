import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { patchContact } from '../../shared/domain/contacts/contacts.ts';
import { changeContacts } from '../../shared/domain/contact-jobs/bulk-change.ts';
import { createContactBatch } from '../../shared/domain/contact-jobs/contact-batch.ts';
import { importContacts, importSource } from '../../shared/domain/contact-jobs/import-contacts.ts';
import { query, sql } from '../../shared/database/sql.ts';
import { recordComplaint, recordHardBounce } from '../../shared/domain/emails/feedback.ts';
import { unsubscribeByEmail } from '../../shared/domain/emails/subscription-links.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';
import { testConfig } from '../../tests/support/config.ts';
import { SUBSCRIPTION_REASONS } from '../../shared/pure/events/subscription-reasons.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

interface Reader {
  email: string;
  contactId: string;
  emailId: string;
  campaignId: string;
}

/** A subscribed contact who got an email of a campaign. */
async function addReader(): Promise<Reader> {
  const email = `${randomUUID()}@mail.test`;
  const { body: contact } = await app.api('POST', '/contacts', { body: { email } });
  const { body: campaign } = await app.api('POST', '/campaigns', {
    body: { name: 'C', subject: 'S', body: 'B', from: 'news@example.com', audienceType: 'ALL' },
  });
  const emailId = randomUUID();
  await query(
    app.em(),
    sql`
      insert into email (id, project_id, contact_id, campaign_id, to_address, status, created_at)
      values (${emailId}, ${app.project.id}, ${contact.id}, ${campaign.data.id}, ${email}, 'SENT', now())`,
  );
  return { email, contactId: contact.id, emailId, campaignId: campaign.data.id };
}

const SUBSCRIBED = { subscribed: false };
const jobId = randomUUID();
const [automationId, executionId] = [randomUUID(), randomUUID()];
const job = () => ({ id: jobId, projectId: app.project.id, createdAt: new Date() });
const byEmail = ({ emailId, campaignId }: Reader) => ({ emailId, campaignId });
const failure = { kind: 'hard', rule: 'test', diagnostic: '550 5.1.1 unknown', server: 'mx.test' } as const;

async function press(reader: Reader, body?: string, link: 'unsubscribeUrl' | 'manageUrl' = 'unsubscribeUrl') {
  const { contactId, emailId } = reader;
  const urls = linkSignerOf({ ...testConfig(), publicUrl: app.url }).recipientUrls({
    contactId,
    emailId,
    projectId: app.project.id,
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await fetch(urls[link], { method: 'POST', headers, body: body ?? null })).status).toBe(200);
}

const paths: [string, (reader: Reader) => Promise<unknown>, (reader: Reader) => object][] = [
  ['hard_bounce', ({ emailId }) => recordHardBounce(app.em(), emailId, failure), byEmail],
  ['complaint', ({ emailId }) => recordComplaint(app.em(), emailId), byEmail],
  ['link', (reader) => press(reader), byEmail],
  ['page', (reader) => press(reader, 'all=off', 'manageUrl'), byEmail],
  ['one_click', (reader) => press(reader, 'List-Unsubscribe=One-Click'), byEmail],
  ['email', ({ emailId }) => unsubscribeByEmail(app.em(), emailId), byEmail],
  [
    'api',
    ({ contactId }) => app.api('PATCH', `/contacts/${contactId}`, { body: SUBSCRIBED }),
    () => ({ endpoint: 'PATCH /contacts/:id' }),
  ],
  [
    'api',
    ({ email }) => app.api('POST', '/contacts', { body: { email, ...SUBSCRIBED } }),
    () => ({ endpoint: 'POST /contacts' }),
  ],
  [
    'send',
    ({ email }) =>
      app.api('POST', '/v1/send', {
        body: { to: email, subject: 'S', body: 'B', from: 'a@example.com', ...SUBSCRIBED },
      }),
    () => ({}),
  ],
  [
    'track',
    ({ email }) => app.api('POST', '/v1/track', { key: 'public', body: { email, event: 'e', ...SUBSCRIBED } }),
    () => ({ key: 'public' }),
  ],
  [
    'track',
    ({ email }) => app.api('POST', '/events/track', { body: { email, event: 'e', ...SUBSCRIBED } }),
    () => ({ key: 'secret' }),
  ],
  [
    'import',
    ({ email }) =>
      app
        .em()
        .transactional((tx) =>
          importContacts(tx, importSource(job()), createContactBatch([{ row: 2, email, ...SUBSCRIBED, data: '{}' }])),
        ),
    () => ({ jobId }),
  ],
  [
    'bulk',
    ({ contactId }) =>
      app.em().transactional((tx) => changeContacts(tx, { ...job(), kind: 'UNSUBSCRIBE' }, [contactId])),
    () => ({ jobId }),
  ],
  [
    'workflow',
    ({ contactId }) =>
      patchContact(app.em(), app.project.id, contactId, SUBSCRIBED, {
        reason: 'workflow',
        automationId,
        executionId,
        depth: 0,
      }),
    () => ({ workflowId: automationId, executionId }),
  ],
];

it.each(paths)('the event of an ended subscription says why: %s', async (reason, end, details) => {
  const reader = await addReader();
  await end(reader);
  const data = { reason, ...details(reader) };
  const { body } = await app.api('GET', `/events/contact/${reader.contactId}`);
  const events = body.events.filter((event: { name: string }) => event.name === 'contact.unsubscribed');
  expect(events).toMatchObject([{ data, emailId: 'emailId' in data ? reader.emailId : null }]);
  const feed = await app.api('GET', `/activity?contactId=${reader.contactId}&types=contact.unsubscribed`);
  expect(feed.body.data).toMatchObject([{ metadata: data }]);
});

it.each(paths)('the record of consent has one entry of it: %s', async (reason, end, details) => {
  const reader = await addReader();
  await end(reader);
  await end(reader).catch(() => undefined);
  const { body } = await app.api('GET', `/contacts/${reader.contactId}/consents`);
  const byKey = ['api', 'send'].includes(reason) ? { key: 'secret' } : {};
  const wording = ['link', 'page'].includes(reason) ? { text: expect.stringContaining('{email}') } : null;
  expect(body).toMatchObject({
    data: [
      { topic: null, state: 'unsubscribed', cause: { reason, ...byKey, ...details(reader) }, wording },
      { topic: null, state: 'subscribed', cause: { reason: 'api', endpoint: 'POST /contacts', key: 'secret' } },
    ],
    hasMore: false,
    suppression: ['hard_bounce', 'complaint'].includes(reason) ? { emailId: reader.emailId } : null,
  });
});

it('the event of an undone bounce names the bounce', async () => {
  const reader = await addReader();
  await recordHardBounce(app.em(), reader.emailId, { ...failure, diagnostic: '550 undone' });
  const undo = { since: '2020-01-01', words: '550 undone' };
  expect((await app.api('POST', '/suppressions/undo', { body: undo })).body).toMatchObject({ subscribed: 1 });
  const { body } = await app.api('GET', `/events/contact/${reader.contactId}`);
  const again = body.events.find((event: { name: string }) => event.name === 'contact.subscribed');
  expect(again.data).toEqual({ reason: 'bounce_undone', ...byEmail(reader) });
  const consents = await app.api('GET', `/contacts/${reader.contactId}/consents`);
  expect(consents.body).toMatchObject({
    data: [{ state: 'subscribed', cause: again.data }, { cause: { reason: 'hard_bounce' } }, { state: 'subscribed' }],
    suppression: null,
  });
});

/** In the tests of bounces and of forms. */
const TRIED_ELSEWHERE = ['bounce_undone', 'form', 'confirmation'];

it('the page on webhooks lists every reason', () => {
  const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.+?) \|/gm)].map(([, reason, text]) => [reason, text]);
  for (const entry of Object.entries(SUBSCRIPTION_REASONS)) expect(rows).toContainEqual(entry);
  expect(paths.map(([reason]) => reason)).toEqual(
    expect.arrayContaining(Object.keys(SUBSCRIPTION_REASONS).filter((reason) => !TRIED_ELSEWHERE.includes(reason))),
  );
});
