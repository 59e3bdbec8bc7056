import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { query } from '../../tests/support/rows.ts';
import { sql } from '../../shared/database/sql.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const exportOf = (id: string) =>
  fetch(`${app.url}/contacts/${id}/export`, { headers: { authorization: `Bearer ${app.keys.secretKey}` } });

it('exports everything that is stored about a contact, page after page', async () => {
  const email = `${randomUUID()}@mail.test`;
  const { body: contact } = await app.api('POST', '/contacts', { body: { email, data: { plan: 'pro' } } });
  const send = { to: email, subject: 'Hello', body: '<p>For you</p>', from: 'a@example.com' };
  expect((await app.api('POST', '/v1/send', { body: send })).status).toBe(200);
  const { body: segment } = await app.api('POST', '/segments', { body: { name: 'Beta', type: 'STATIC' } });
  await app.api('POST', `/segments/${segment.id}/members`, { body: { emails: [email] } });
  await query(
    app.em(),
    sql`
      insert into event (id, project_id, contact_id, name, data, created_at)
      select everpost_uuid_v7(), ${app.project.id}, ${contact.id}, 'seen', '{}', now() - n * interval '1 second'
      from generate_series(1, 20000) n`,
  );
  const reply = await exportOf(contact.id);
  expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="contact-${contact.id}.json"`);
  const file: any = await reply.json();
  expect(file).toMatchObject({
    contact: { id: contact.id, email, data: { plan: 'pro' } },
    suppression: null,
    segments: [{ id: segment.id, name: 'Beta' }],
    formerAddresses: [],
    optIns: [],
    executions: [],
    consents: [{ state: 'subscribed', cause: { endpoint: 'POST /contacts' } }],
    emails: [{ to: email, subject: 'Hello', content: { html: expect.stringContaining('For you') } }],
  });
  expect(new Set(file.events.map(({ id }: { id: string }) => id)).size).toBe(20_000);
});

it('answers 404 for the contact of another project', async () => {
  expect((await exportOf(randomUUID())).status).toBe(404);
});
