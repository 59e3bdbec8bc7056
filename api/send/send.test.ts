import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EmailEntity } from '../../tests/support/entities/email.entity.ts';
import { SenderDomainEntity } from '../../shared/domain/domains/sender-domain.entity.ts';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { FROM, freshEmail, mail, startSendApi, type SendApi } from '../../tests/support/send.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

let app: SendApi;
beforeAll(async () => {
  app = await startSendApi();
});
afterAll(() => app.stop());

describe('POST /v1/send', () => {
  it('answers with the contact and the record, and leaves the email for delivery', async () => {
    const to = freshEmail();
    const reply = await app.api('POST', '/v1/send', {
      body: mail({ to: ` ${to.toUpperCase()} ` }),
      headers: { 'x-request-id': 'send-1' },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-request-id')).toBe('send-1');
    const contact = await app.contactOf(to);
    expect(contact).toMatchObject({ subscribed: false, data: {} });
    expect(reply.body).toEqual({
      success: true,
      data: {
        emails: [{ contact: { id: contact.id, email: to }, email: expect.stringMatching(UUID) }],
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
    const emailId: string = reply.body.data.emails[0].email;
    expect(await app.emailRecord(emailId)).toMatchObject({
      projectId: app.project.id,
      contactId: contact.id,
      campaignId: null,
      templateId: null,
      toAddress: to,
      subject: 'Hello',
      status: 'PENDING',
    });
    expect(await query(app.em(), sql`select from outbox where subject_id = ${emailId}`)).toHaveLength(1);
    expect(await app.eventNames(contact.id)).toEqual([]);
  });

  it.each<[string, unknown, [string, string | null][]]>([
    ['a text', 'form-a@mail.test', [['form-a@mail.test', null]]],
    ['an object', { email: 'form-b@mail.test', name: 'Bea' }, [['form-b@mail.test', 'Bea']]],
    ['an object without a name', { email: 'form-c@mail.test' }, [['form-c@mail.test', null]]],
    ['an object with an empty name', { email: 'form-g@mail.test', name: '' }, [['form-g@mail.test', null]]],
    [
      'a mixed array',
      ['Form-D@mail.test', { email: 'form-e@mail.test', name: 'Émile "E" Ünal' }],
      [
        ['form-d@mail.test', null],
        ['form-e@mail.test', 'Émile "E" Ünal'],
      ],
    ],
    [
      'an array that repeats an address',
      ['form-f@mail.test', { email: 'FORM-F@mail.test', name: 'F' }],
      [
        ['form-f@mail.test', null],
        ['form-f@mail.test', 'F'],
      ],
    ],
  ])('takes %s as `to`, one email each in their order and one contact per address', async (_form, to, expected) => {
    const reply = await app.send(mail({ to }));
    expect(reply.status).toBe(200);
    const { emails } = reply.body.data;
    expect(emails.map((item: any) => item.contact.email)).toEqual(expected.map(([address]) => address));
    expect(new Set(emails.map((item: any) => item.email)).size).toBe(expected.length);
    for (const [index, [address, name]] of expected.entries()) {
      expect(emails[index].contact.id).toBe((await app.contactOf(address)).id);
      expect((await app.contentOf(emails[index].email)).toName).toBe(name);
    }
  });

  it.each<[string, Record<string, unknown>, string, string | null]>([
    ['a text', { from: 'Hello@Example.com' }, FROM, null],
    ['an object', { from: { email: FROM, name: 'Team' } }, FROM, 'Team'],
    ['an object without a name', { from: { email: FROM } }, FROM, null],
    ['an object with a blank name', { from: { email: FROM, name: ' ' } }, FROM, null],
    [
      'an object with an empty name beside the deprecated one',
      { from: { email: FROM, name: '' }, name: 'Old' },
      FROM,
      'Old',
    ],
    ['a text with an empty deprecated name', { from: FROM, name: '' }, FROM, null],
    ['a text with the deprecated name', { from: FROM, name: 'Old' }, FROM, 'Old'],
    [
      'an object whose name wins over the deprecated one',
      { from: { email: FROM, name: 'New' }, name: 'Old' },
      FROM,
      'New',
    ],
  ])('takes %s as `from`', async (_form, change, address, name) => {
    const { content } = await app.sendOne(mail(change));
    expect([content.fromAddress, content.fromName]).toEqual([address, name]);
  });

  it('renders subject, body and headers for each recipient, in the same request', async () => {
    const [ann, bob] = [freshEmail(), freshEmail()];
    await app.api('POST', '/contacts', { body: { email: ann, data: { name: 'Ann <3', profile: { tier: 'gold' } } } });
    const reply = await app.send(
      mail({
        to: [ann, bob],
        subject: 'For {{name ?? "you"}}',
        body: '<p>{{name ?? "you"}}, {{profile.tier ?? "no"}} tier, {{email}} {{city}}</p>',
        headers: { 'X-Name': '{{name ?? "nobody"}}' },
        data: { city: 'Graz' },
      }),
    );
    const ids: string[] = reply.body.data.emails.map((item: any) => item.email);
    const contents = await Promise.all(ids.map(app.contentOf));
    expect(contents.map((content) => content.html)).toEqual([
      `<p>Ann &lt;3, gold tier, ${ann} Graz</p>`,
      `<p>you, no tier, ${bob} Graz</p>`,
    ]);
    expect(contents.map((content) => content.headers.at(-1))).toEqual([
      ['X-Name', 'Ann <3'],
      ['X-Name', 'nobody'],
    ]);
    expect((await Promise.all(ids.map(app.emailRecord))).map((row) => row.subject)).toEqual(['For Ann <3', 'For you']);
    expect((await app.contactOf(bob)).data).toEqual({ city: 'Graz' });
  });

  it('sees what another request has committed about the contact, under twenty sends at once', async () => {
    const to = freshEmail();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => app.send(mail({ to: [to, freshEmail()], data: { [`key${n % 5}`]: n } }))),
    );
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]));
    expect(new Set(replies.map((reply) => reply.body.data.emails[0].contact.id)).size).toBe(1);
    expect(Object.keys((await app.contactOf(to)).data)).toHaveLength(5);
  });
});

describe('the subscription of recipients', () => {
  it('is false for new contacts unless told otherwise, and no event is recorded', async () => {
    const [quiet, keen] = [freshEmail(), freshEmail()];
    await app.send(mail({ to: quiet }));
    await app.send(mail({ to: keen, subscribed: true }));
    const contacts = [await app.contactOf(quiet), await app.contactOf(keen)];
    expect(contacts.map((contact) => contact.subscribed)).toEqual([false, true]);
    expect(await Promise.all(contacts.map((contact) => app.eventNames(contact.id)))).toEqual([[], []]);
  });

  it('stays when it is omitted, and each change is recorded as an event', async () => {
    const to = freshEmail();
    await app.api('POST', '/contacts', { body: { email: to } });
    for (const subscribed of [undefined, true, false, false, undefined, true]) await app.send(mail({ to, subscribed }));
    const contact = await app.contactOf(to);
    expect(contact.subscribed).toBe(true);
    expect(await app.eventNames(contact.id)).toEqual(['contact.unsubscribed', 'contact.subscribed']);
  });
});

describe('the data of a send', () => {
  it('follows the custom data rules and is what this email is rendered with', async () => {
    const to = freshEmail();
    await app.api('POST', '/contacts', { body: { email: to, data: { kept: 'stored', gone: 1, plan: 'free' } } });
    const { content } = await app.sendOne(
      mail({
        to,
        body: '{{code}}|{{kept}}|{{gone ?? "none"}}|{{plan}}|{{id}}|{{email}}|{{data.code}}|{{locale}}|{{long.ago}}',
        data: {
          code: { value: 'A1', persistent: false },
          kept: '',
          gone: null,
          plan: { value: 'pro', persistent: true },
          id: 'mine',
          email: 'mine@example.com',
          svc_id: 'x',
          unsubscribeUrl: 'https://evil.test',
          locale: 'de',
          long: { value: { ago: 1 }, persistent: false },
        },
      }),
    );
    const contact = await app.contactOf(to);
    expect(content.html).toBe(`A1|stored|none|pro|${contact.id}|${to}|A1|de|1`);
    expect(contact.data).toEqual({ kept: 'stored', plan: 'pro', locale: 'de' });
    const fields = await query(
      app.em(),
      sql`select key from contact_field where key in ('code', 'id', 'email', 'svc_id', 'long', 'locale')`,
    );
    expect(fields.map((field) => field.key)).toEqual(['locale']);
  });

  it.each<[string, unknown, string, string]>([
    ['a text', 'x', 'data', 'invalid_type'],
    ['an array', [1], 'data', 'invalid_type'],
    ['NUL in a value', { a: 'x\0y' }, 'data.a', 'invalid_string'],
  ])('cannot be %s', async (_fault, data, field, code) => {
    await app.expectRefused(mail({ data }), field, code);
  });
});

describe('the check of the sender', () => {
  it.each<[string, string, string]>([
    ['unknown.test', 'DOMAIN_NOT_REGISTERED', 'unknown'],
    ['mail.example.com', 'DOMAIN_NOT_REGISTERED', 'a subdomain of a verified one'],
    ['pending.test', 'DOMAIN_NOT_VERIFIED', 'unverified'],
  ])('refuses the domain %s with %s', async (domain, reason) => {
    const em = app.em();
    if (reason === 'DOMAIN_NOT_VERIFIED') {
      em.create(SenderDomainEntity, { projectId: app.project.id, domain, verified: false });
      await em.flush();
    }
    const reply = await app.expectNothingWritten(() => app.send(mail({ from: `hello@${domain}` })));
    expect(reply.status).toBe(403);
    expect(reply.body.error).toMatchObject({
      code: 'INTERNAL_SERVER_ERROR',
      statusCode: 403,
      details: { reason, domain },
    });
  });

  it('refuses a domain that only another project has', async () => {
    const other = await app.createProject();
    await query(app.em(), sql`delete from sender_domain where project_id = ${other.project.id}`);
    expect((await app.send(mail(), other)).body.error.details).toEqual({
      reason: 'DOMAIN_NOT_REGISTERED',
      domain: 'example.com',
    });
  });

  it('refuses the public key and a disabled project', async () => {
    const other = await app.createProject();
    const publicKey = await other.api('POST', '/v1/send', { body: mail(), key: 'public' });
    expect([publicKey.status, publicKey.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    await updateProject(app.em(), other.project.id, { disabled: true });
    const disabled = await app.expectNothingWritten(() => app.send(mail(), other));
    expect([disabled.status, disabled.body.error.code]).toEqual([403, 'PROJECT_DISABLED']);
  });
});

describe('a request to POST /v1/send', () => {
  it('writes nothing when the email of one recipient cannot be rendered', async () => {
    const big = freshEmail();
    const small = freshEmail();
    await app.api('POST', '/contacts', { body: { email: big, data: { list: Array.from({ length: 900 }, () => 1) } } });
    const body = '{{#each list}}{{#each data.list}}xxxxxxxxxx{{/each}}{{/each}}';
    await app.expectRefused(mail({ to: [small, big], body, data: { fresh: 1 } }), 'body', 'too_big');
    expect((await app.send(mail({ to: small, body }))).status).toBe(200);
  });

  it('sends once under one Idempotency-Key, and frees the key when it is refused', async () => {
    const to = freshEmail();
    const keyed = (body: unknown) =>
      app.api('POST', '/v1/send', { body, headers: { 'idempotency-key': `order-${to}` } });
    expect((await keyed(mail({ to, subject: '' }))).status).toBe(422);
    const replies = await Promise.all(Array.from({ length: 10 }, () => keyed(mail({ to }))));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    const again = await keyed({});
    expect(again.body.error).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: { key: `order-${to}`, originalRequest: 'POST /v1/send', originalStatusCode: 200 },
    });
    expect(await app.em().count(EmailEntity, { toAddress: to })).toBe(1);
  });
});
