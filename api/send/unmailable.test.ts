import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDnsServer, type DnsServer } from '../../tests/support/dns-server.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let dns: DnsServer;
let app: TestApi;
beforeAll(async () => {
  dns = await createDnsServer();
  app = await startTestApi({ config: { DNS_SERVERS: [dns.address] } });
});
afterAll(async () => {
  await app.stop();
  await dns.close();
});

const send = (to: unknown) =>
  app.api('POST', '/v1/send', { body: { to, subject: 'S', body: 'B', from: 'shop@example.com' } });

it.each([
  ['jörg@example.com', 'to'],
  [{ email: 'jörg@example.com', name: 'Jörg' }, 'to.email'],
  [['ada@example.com', '用户@example.com'], 'to.1'],
])('an address that no email can go to is refused before anything is sent: %j', async (to, field) => {
  const reply = await send(to);
  expect([reply.status, reply.body.error.errors]).toMatchObject([422, [{ field, code: 'invalid_string' }]]);
  expect(reply.body.error.errors[0].message).toContain('no email can be sent to it');
  expect((await app.api('GET', '/emails')).body.emails).toEqual([]);
});

it('no contact is created or changed with such an address, nor counted in a campaign', async () => {
  const { body: contact } = await app.api('POST', '/contacts', { body: { email: 'ada@example.com' } });
  const { body: segment } = await app.api('POST', '/segments', { body: { name: 'S', type: 'STATIC' } });
  const email = 'jörg@example.com';
  const doors = [
    app.api('POST', '/contacts', { body: { email } }),
    app.api('PATCH', `/contacts/${contact.id}`, { body: { email } }),
    app.api('POST', '/v1/track', { key: 'public', body: { email, event: 'signed_up' } }),
    app.api('POST', '/events/track', { body: { email, event: 'signed_up' } }),
    app.api('POST', `/segments/${segment.id}/members`, { body: { emails: [email], createMissing: true } }),
  ];
  for (const { status, body } of await Promise.all(doors)) {
    expect([status, body.error?.errors[0].code]).toEqual([422, 'invalid_string']);
    expect(body.error.errors[0].message).toContain('no email can be sent to it');
  }
  expect((await app.api('GET', '/contacts?search=example.com')).body.total).toBe(1);
});

it('an international domain has an ASCII form and is taken', async () => {
  expect((await send('leser@bücher.example')).status).toBe(200);
});

it('verification names addresses that no email can go to', async () => {
  const { body } = await app.api('POST', '/v1/verify', { body: { email: 'jörg@example.com' } });
  expect(body.data).toMatchObject({
    valid: false,
    reasons: expect.arrayContaining([expect.stringContaining('ASCII')]),
  });
});
