import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDnsServer, type DnsServer } from '../../tests/support/dns-server.ts';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { ADDRESS_HASH_KEY, addressHash } from '../../shared/domain/suppressions/address-hash.ts';
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

it('the spellings of an international domain are one address at every door', async () => {
  const { body: contact } = await app.api('POST', '/contacts', { body: { email: 'one@bücher.example' } });
  const { body: other } = await app.api('POST', '/contacts', { body: { email: 'other@example.com' } });
  const { body: segment } = await app.api('POST', '/segments', { body: { name: 'Spelt', type: 'STATIC' } });
  const statuses: number[] = [];
  for (const door of doorsFor) statuses.push((await door('ONE@XN--Bcher-kva.example', other.id, segment.id)).status);
  expect(statuses).toEqual([200, 409, 200, 201, 200]);
  const both = ['one@xn--bcher-kva.example', 'one@bücher.example'];
  const { body: sent } = await send(both);
  expect(sent.data.emails.map((email: any) => email.contact)).toEqual(
    both.map(() => ({ id: contact.id, email: 'one@bücher.example' })),
  );
  const { body: bulk } = await app.api('POST', '/contacts/bulk', {
    body: { contacts: both.map((email) => ({ email })) },
  });
  expect(bulk.results.map(({ id }: any) => id)).toEqual([contact.id, contact.id]);
  expect((await app.api('POST', '/contacts/lookup', { body: { emails: both } })).body.found).toEqual(both);
  expect((await app.api('GET', '/contacts?search=one@')).body.total).toBe(1);
  for (const address of both) {
    const { body } = await app.api('POST', '/emails/search', { body: { address } });
    expect(body.emails.length).toBe(2);
  }
  expect((await app.api('POST', '/suppressions', { body: { emails: both } })).body).toEqual({ added: 1, present: 0 });
  const [first] = both.map(encodeURIComponent);
  expect((await app.api('DELETE', `/suppressions/${first}`)).status).toBe(204);
});

it('a part of an address is found in each spelling of its domain', async () => {
  const owner = await app.createProject();
  for (const email of ['new@bücher.example', 'old@bücher.example', 'other@books.example']) {
    await owner.api('POST', '/contacts', { body: { email } });
  }
  await query(
    app.em(),
    sql`update contact set email = 'old@xn--bcher-kva.example' where project_id = ${owner.project.id} and email like 'old@%'`,
  );
  const found = async (search: string) =>
    (await owner.api('POST', '/contacts/search', { body: { search } })).body.data.map(({ email }: any) => email).sort();
  const both = ['new@bücher.example', 'old@xn--bcher-kva.example'];
  for (const search of ['bücher.example', 'BU\u0308CHER.example', '@xn--bcher-kva.example', 'XN--bcher-kva']) {
    expect([search, await found(search)]).toEqual([search, both]);
    const { records } = (await owner.api('POST', '/find', { body: { text: search } })).body;
    expect(records.filter(({ kind }: any) => kind === 'contact')).toHaveLength(2);
    const filter = { field: 'email', operator: 'contains', value: search };
    const condition = { logic: 'AND', groups: [{ filters: [filter] }] };
    const { body } = await owner.api('POST', '/segments', { body: { name: search, condition } });
    expect((await owner.api('GET', `/segments/${body.id}/contacts`)).body.total).toBe(2);
  }
  for (const value of ['old@bücher.example', ' OLD@xn--bcher-kva.example']) {
    expect(await found(value.trim())).toEqual([both[1]]);
    const condition = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'equals', value }] }] };
    const { body } = await owner.api('POST', '/segments', { body: { name: value, condition } });
    expect((await owner.api('GET', `/segments/${body.id}/contacts`)).body.data).toMatchObject([{ email: both[1] }]);
  }
  expect(await found('bücher.test')).toEqual([]);
});

it('what is stored under the other spelling is found and respelt, and its suppression follows', async () => {
  const { body: old } = await app.api('POST', '/contacts', { body: { email: 'old@bücher.example' } });
  const { body: twice } = await app.api('POST', '/contacts', { body: { email: 'twice@bücher.example' } });
  await app.api('POST', '/suppressions', { body: { emails: ['old@bücher.example'] } });
  await send('old@bücher.example');
  const former = 'old@xn--bcher-kva.example';
  const em = app.em();
  await query(em, sql`update contact set email = ${former} where id = ${old.id}`);
  await query(em, sql`update email set to_address = ${former} where contact_id = ${old.id}`);
  await query(
    em,
    sql`
      update suppression s set email = ${former},
        address_hash = ${addressHash(sql`s.project_id`, sql`${former}::text`)} from ${ADDRESS_HASH_KEY} where s.email like 'old@%'`,
  );
  await query(
    em,
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      values (everpost_uuid_v7(), ${app.project.id}, 'twice@xn--bcher-kva.example', true, now(), now())`,
  );

  const lookup = { emails: ['old@bücher.example', former] };
  expect((await app.api('POST', '/contacts/lookup', { body: lookup })).body.found).toEqual(lookup.emails);
  for (const address of lookup.emails) {
    expect((await app.api('POST', '/emails/search', { body: { address } })).body.emails).toHaveLength(1);
    const { body } = await app.api('POST', '/suppressions/search', { body: { address } });
    expect(body.suppressions).toMatchObject([{ email: former }]);
  }
  const emails = [former, 'twice@xn--bcher-kva.example'];
  const answers = await Promise.all(emails.map((email) => app.api('POST', '/contacts', { body: { email } })));
  expect(answers.map(({ status, body }) => [status, body.id, body.email])).toEqual([
    [200, old.id, 'old@bücher.example'],
    [200, twice.id, 'twice@bücher.example'],
  ]);
  const { body } = await app.api('POST', '/suppressions/search', { body: { address: former } });
  expect(body.suppressions).toMatchObject([{ email: 'old@bücher.example', reason: 'MANUAL' }]);
  expect((await app.api('POST', '/emails/search', { body: { address: former } })).body.emails).toHaveLength(1);
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
