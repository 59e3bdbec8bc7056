import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { testConfig } from '../../tests/support/config.ts';
import { TEST_BRAND } from '../../tests/support/brand.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import { sql } from '../../shared/database/sql.ts';
import { createCampaignComposers } from '../../shared/domain/campaigns/campaign-composer.ts';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import { isEmailTracked, type TrackingMode } from '../../shared/pure/project.ts';
import { linkSignerOf } from '../../shared/sending/compose/links.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const links = () => linkSignerOf({ ...testConfig(), publicUrl: app.url });
const setMode = (tracking: TrackingMode) => updateProject(app.em(), app.project.id, { tracking });

async function addContact(trackingAllowed?: boolean): Promise<{ id: string; email: string }> {
  const body = { email: `${randomUUID()}@mail.test`, ...(trackingAllowed !== undefined && { trackingAllowed }) };
  return (await app.api('POST', '/contacts', { body })).body;
}

const statesOf = async (id: string) =>
  (await app.api('GET', `/contacts/${id}/consents`)).body.data.map(({ state }: { state: string }) => state);

it.each<[TrackingMode, boolean, boolean, boolean]>([
  ['MARKETING_ONLY', true, true, false],
  ['ENABLED', true, true, false],
  ['DISABLED', false, false, false],
  ['CONSENTED', true, false, false],
])('%s tracks MARKETING email to contacts who agreed: %s, were not asked: %s, refused: %s', (mode, ...tracked) => {
  expect([true, null, false].map((allowed) => isEmailTracked(mode, 'MARKETING', allowed))).toEqual(tracked);
  expect(isEmailTracked(mode, 'TRANSACTIONAL', true)).toBe(mode === 'ENABLED' || mode === 'CONSENTED');
});

it('each door stores the choice, and each change leaves one entry', async () => {
  const { id, email } = await addContact();
  expect((await app.api('GET', `/contacts/${id}`)).body).not.toHaveProperty('trackingAllowed');
  const again = await app.api('POST', '/contacts', { body: { email, trackingAllowed: true } });
  expect(again.body).toMatchObject({ trackingAllowed: true });
  const denied = await app.api('PATCH', `/contacts/${id}`, { body: { trackingAllowed: false } });
  expect(denied.body).toMatchObject({ trackingAllowed: false });
  const track = { key: 'public', body: { email, event: 'agreed', trackingAllowed: true } } as const;
  for (let i = 0; i < 2; i++) expect((await app.api('POST', '/v1/track', track)).status).toBe(200);
  expect((await app.api('GET', `/contacts/${id}`)).body).toMatchObject({ trackingAllowed: true });
  expect(await statesOf(id)).toEqual(['tracking_allowed', 'tracking_denied', 'tracking_allowed', 'subscribed']);
  expect((await app.api('PATCH', `/contacts/${id}`, { body: { trackingAllowed: 'yes' } })).status).toBe(422);
});

it('a public key that may not subscribe again does not allow what a contact has refused', async () => {
  const { id, email } = await addContact(false);
  const publicKeyRules = { fields: null, subscribed: true, resubscribe: false, dataTargets: true };
  await updateProject(app.em(), app.project.id, { publicKeyRules });
  await app.api('POST', '/v1/track', { key: 'public', body: { email, event: 'e', trackingAllowed: true } });
  await updateProject(app.em(), app.project.id, { publicKeyRules: null });
  expect((await app.api('GET', `/contacts/${id}`)).body).toMatchObject({ trackingAllowed: false });
});

it('a request tracks the emails to those of its recipients who agreed', async () => {
  await setMode('CONSENTED');
  const contacts = [await addContact(true), await addContact(), await addContact(false)];
  const body = '<a href="https://example.com/a">A</a>';
  const { body: sent } = await app.api('POST', '/v1/send', {
    body: { to: contacts.map(({ email }) => email), subject: 'S', body, from: 'a@example.com' },
  });
  const html = [];
  for (const { email } of sent.data.emails) {
    html.push((await queryOne(app.em(), sql`select html from email_content where email_id = ${email}`)).html);
  }
  expect(html.map((text) => [text.includes('/t/o/'), text.includes('/t/c/')])).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ]);
});

it('a campaign tracks the emails to those of its recipients who agreed', async () => {
  const composerOf = createCampaignComposers({
    config: testConfig(),
    links: links(),
    identities: { identityOf: async () => ({ signer: undefined, returnPathHost: 'mail.test' }) },
  });
  const composer = await composerOf({
    id: randomUUID(),
    projectId: app.project.id,
    type: 'MARKETING',
    tracking: 'CONSENTED',
    brand: TEST_BRAND,
    subject: 'S',
    body: '<p>News</p>',
    text: null,
    preheader: null,
    from: 'a@example.com',
    topic: null,
  } as never);
  const recipient = { contactId: randomUUID(), toAddress: 'a@mail.test', subscribed: true, data: {}, deferrals: 0 };
  const emails = composer.prepareAll(
    [true, null, false].map((trackingAllowed) => ({ ...recipient, emailId: randomUUID(), trackingAllowed })) as never,
  );
  const tracked = [];
  for (const email of emails) {
    const composed = 'compose' in email ? email.compose() : {};
    tracked.push(
      JSON.stringify(composed, (_key, value) => (Buffer.isBuffer(value) ? value.toString() : value)).includes('/t/o/'),
    );
  }
  expect(tracked).toEqual([true, false, false]);
});

it('engagement of a contact who withdrew, or who was not asked, is not recorded, and the link still works', async () => {
  await setMode('CONSENTED');
  const opens: number[] = [];
  for (const allowed of [true, undefined, false]) {
    const { id } = await addContact(allowed);
    const emailId = randomUUID();
    await query(
      app.em(),
      sql`insert into email (id, project_id, contact_id, to_address, status, created_at)
        values (${emailId}, ${app.project.id}, ${id}, 'a@mail.test', 'SENT', now())`,
    );
    const urls = links().recipientUrls({ contactId: id, emailId, projectId: app.project.id });
    expect((await fetch(urls.openUrl)).status).toBe(200);
    opens.push((await queryOne(app.em(), sql`select opens from email where id = ${emailId}`)).opens);
  }
  expect(opens).toEqual([1, 0, 0]);
});
