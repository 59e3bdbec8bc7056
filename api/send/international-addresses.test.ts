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

const send = (to: unknown, more: object = {}) =>
  app.api('POST', '/v1/send', { body: { to, subject: 'S', body: 'B', from: 'shop@example.com', ...more } });

/** The doors by which an address becomes that of a contact. */
const doorsFor: ((email: string, contactId: string, segmentId: string) => ReturnType<TestApi['api']>)[] = [
  (email) => app.api('POST', '/contacts', { body: { email } }),
  (email, contactId) => app.api('PATCH', `/contacts/${contactId}`, { body: { email } }),
  (email) => app.api('POST', '/v1/track', { key: 'public', body: { email, event: 'signed_up' } }),
  (email) => app.api('POST', '/events/track', { body: { email, event: 'signed_up' } }),
  (email, _contactId, segmentId) =>
    app.api('POST', `/segments/${segmentId}/members`, { body: { emails: [email], createMissing: true } }),
];

it.each([
  ['ada@xn--ü.test', 'to'],
  [{ email: 'jörg@xn--ü.test', name: 'Jörg' }, 'to.email'],
  [['ada@example.com', '用户@xn--ü.test'], 'to.1'],
])('an address that no email can go to is refused before anything is sent: %j', async (to, field) => {
  const reply = await send(to);
  expect([reply.status, reply.body.error.errors]).toMatchObject([422, [{ field, code: 'invalid_string' }]]);
  expect(reply.body.error.errors[0].message).toContain('no email can be sent to it');
  expect((await app.api('GET', '/emails')).body.emails).toEqual([]);
});

it('no contact is created or changed with such an address, but with every address that some server takes', async () => {
  const { body: contact } = await app.api('POST', '/contacts', { body: { email: 'ada@example.com' } });
  const { body: segment } = await app.api('POST', '/segments', { body: { name: 'S', type: 'STATIC' } });
  for (const { status, body } of await Promise.all(
    doorsFor.map((door) => door('jörg@xn--ü.test', contact.id, segment.id)),
  )) {
    expect([status, body.error?.errors[0].code]).toEqual([422, 'invalid_string']);
    expect(body.error.errors[0].message).toContain('no email can be sent to it');
  }
  expect((await app.api('GET', '/contacts?search=example.com')).body.total).toBe(1);
  // Another contact cannot get the address of the first, and the letters of an address may be composed in another way.
  const statuses: number[] = [];
  for (const door of doorsFor) statuses.push((await door('jörg@example.com', contact.id, segment.id)).status);
  expect(statuses).toEqual([201, 409, 200, 201, 200]);
  expect((await app.api('POST', '/contacts', { body: { email: 'JO\u0308RG@example.com' } })).status).toBe(200);
  expect((await app.api('GET', '/contacts?search=example.com')).body.total).toBe(2);
});

it('an international address is taken', async () => {
  for (const address of ['leser@bücher.example', 'jörg@bücher.example', '用户@example.com']) {
    expect((await send(address)).status).toBe(200);
  }
});

it('a sender with letters outside ASCII before the @ is refused by a sentence that names the rule', async () => {
  for (const fields of [{ from: 'jörg@example.com' }, { reply: 'jörg@example.com' }]) {
    const { status, body } = await send('ada@example.com', fields);
    expect([status, body.error.errors[0].message]).toEqual([422, expect.stringContaining('RFC 6531')]);
  }
});

it('verification says which addresses few servers take', async () => {
  const { body } = await app.api('POST', '/v1/verify', { body: { email: 'jörg@example.com' } });
  expect(body.data.reasons).toContainEqual(expect.stringContaining('SMTPUTF8'));
});
