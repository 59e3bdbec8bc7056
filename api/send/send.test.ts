import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from '../../shared/domain/emails/email.entity.ts';
import { EventEntity } from '../../shared/domain/events/event.entity.ts';
import { SenderDomainEntity } from '../../shared/domain/domains/sender-domain.entity.ts';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import { query, sql } from '../../shared/domain/database/sql.ts';
import { startTestApi, type TestApi, type TestProject, type TestReply } from '../../tests/support/api.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const FROM = 'hello@example.com';
const ATTACHMENTS_MAX_BYTES = 100_000;
const MESSAGE_MAX_BYTES = 200_000;

let app: TestApi;
let addressCount = 0;
const freshEmail = () => `to-${++addressCount}@mail.test`;
beforeAll(async () => {
  app = await startTestApi({
    config: { ATTACHMENTS_MAX_BYTES, MESSAGE_MAX_BYTES, API_RATE_LIMIT_PER_MINUTE: 1_000_000 },
  });
});
afterAll(() => app.stop());

interface StoredContent {
  fromAddress: string;
  fromName: string | null;
  toName: string | null;
  replyTo: string | null;
  html: string;
  text: string;
  headers: [string, string][];
}

const send = (body: unknown, project: TestProject = app): Promise<TestReply> =>
  project.api('POST', '/v1/send', { body });
/** A request that is right, with `change` in place of its fields. */
const mail = (change: Record<string, unknown> = {}) => ({
  to: freshEmail(),
  subject: 'Hello',
  body: '<p>Hi</p>',
  from: FROM,
  ...change,
});
const contactOf = (email: string, projectId = app.project.id) =>
  app.em().findOneOrFail(ContactEntity, { projectId, email });
const emailRecord = (id: string) => app.em().findOneOrFail(EmailEntity, { id });
const eventNames = async (contactId: string) =>
  (await app.em().find(EventEntity, { contactId }, { orderBy: { id: 'asc' } })).map((event) => event.name);

async function contentOf(emailId: string): Promise<StoredContent> {
  const [row] = await query<StoredContent>(
    app.em(),
    sql`
      select from_address as "fromAddress", from_name as "fromName", to_name as "toName", reply_to as "replyTo", html,
        body_text as text, headers
      from email_content where email_id = ${emailId}`,
  );
  if (!row) throw new Error(`no content of ${emailId}`);
  return row;
}

/** Sends what must be accepted, to one recipient. */
async function sendOne(body: unknown) {
  const reply = await send(body);
  expect(reply.body).toMatchObject({ success: true });
  const emailId: string = reply.body.data.emails[0].email;
  return { emailId, content: await contentOf(emailId), subject: (await emailRecord(emailId)).subject };
}

/** Every row that a send may write, counted. */
async function rowCounts(): Promise<Record<string, number>> {
  const [row] = await query<Record<string, number>>(
    app.em(),
    sql`
      select (select count(*)::int from contact) as contacts, (select count(*)::int from contact_field) as fields,
        (select count(*)::int from event) as events, (select count(*)::int from email) as emails,
        (select count(*)::int from email_content) as contents, (select count(*)::int from attachment) as attachments,
        (select count(*)::int from outbox) as outbox`,
  );
  return row ?? {};
}

async function expectNothingWritten(request: () => Promise<TestReply>): Promise<TestReply> {
  const before = [await rowCounts(), app.wakeups()];
  const reply = await request();
  expect([await rowCounts(), app.wakeups()]).toEqual(before);
  return reply;
}

async function expectRefused(body: unknown, field: string, code: string): Promise<TestReply> {
  const reply = await expectNothingWritten(() => send(body));
  expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
  expect(reply.body.error.errors).toContainEqual(expect.objectContaining({ field, code }));
  return reply;
}

async function createTemplate(change: Record<string, unknown> = {}, project: TestProject = app): Promise<string> {
  const reply = await project.api('POST', '/templates', {
    body: {
      name: 'Welcome',
      subject: 'Welcome {{name ?? "friend"}}',
      body: '<p>Dear {{name}}</p>',
      from: 'template@example.com',
      fromName: 'Template',
      replyTo: 'template-reply@example.com',
      type: 'TRANSACTIONAL',
      ...change,
    },
  });
  expect(reply.status).toBe(201);
  return reply.body.id;
}

describe('POST /v1/send', () => {
  it('answers with the contact and the record, and leaves the mail for delivery', async () => {
    const to = freshEmail();
    const wakeups = app.wakeups();
    const reply = await app.api('POST', '/v1/send', {
      body: mail({ to: ` ${to.toUpperCase()} ` }),
      headers: { 'x-request-id': 'send-1' },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-request-id')).toBe('send-1');
    const contact = await contactOf(to);
    expect(contact).toMatchObject({ subscribed: false, data: {} });
    expect(reply.body).toEqual({
      success: true,
      data: {
        emails: [{ contact: { id: contact.id, email: to }, email: expect.stringMatching(UUID) }],
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
    const emailId: string = reply.body.data.emails[0].email;
    expect(await emailRecord(emailId)).toMatchObject({
      projectId: app.project.id,
      contactId: contact.id,
      campaignId: null,
      templateId: null,
      toAddress: to,
      subject: 'Hello',
      status: 'PENDING',
    });
    expect(await query(app.em(), sql`select from outbox where subject_id = ${emailId}`)).toHaveLength(1);
    expect(app.wakeups()).toBe(wakeups + 1);
    expect(await eventNames(contact.id)).toEqual([]);
  });

  it.each<[string, unknown, [string, string | null][]]>([
    ['a text', 'form-a@mail.test', [['form-a@mail.test', null]]],
    ['an object', { email: 'form-b@mail.test', name: 'Bea' }, [['form-b@mail.test', 'Bea']]],
    ['an object without a name', { email: 'form-c@mail.test' }, [['form-c@mail.test', null]]],
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
  ])('takes %s as `to`, one mail each in their order and one contact per address', async (_form, to, expected) => {
    const reply = await send(mail({ to }));
    expect(reply.status).toBe(200);
    const { emails } = reply.body.data;
    expect(emails.map((item: any) => item.contact.email)).toEqual(expected.map(([address]) => address));
    expect(new Set(emails.map((item: any) => item.email)).size).toBe(expected.length);
    for (const [index, [address, name]] of expected.entries()) {
      expect(emails[index].contact.id).toBe((await contactOf(address)).id);
      expect((await contentOf(emails[index].email)).toName).toBe(name);
    }
  });

  it.each<[string, Record<string, unknown>, string, string | null]>([
    ['a text', { from: 'Hello@Example.com' }, FROM, null],
    ['an object', { from: { email: FROM, name: 'Team' } }, FROM, 'Team'],
    ['an object without a name', { from: { email: FROM } }, FROM, null],
    ['a text with the deprecated name', { from: FROM, name: 'Old' }, FROM, 'Old'],
    [
      'an object whose name wins over the deprecated one',
      { from: { email: FROM, name: 'New' }, name: 'Old' },
      FROM,
      'New',
    ],
  ])('takes %s as `from`', async (_form, change, address, name) => {
    const { content } = await sendOne(mail(change));
    expect([content.fromAddress, content.fromName]).toEqual([address, name]);
  });

  it('renders subject, body and headers for each recipient, in the same request', async () => {
    const [ann, bob] = [freshEmail(), freshEmail()];
    await app.api('POST', '/contacts', { body: { email: ann, data: { name: 'Ann <3', profile: { tier: 'gold' } } } });
    const reply = await send(
      mail({
        to: [ann, bob],
        subject: 'For {{name ?? "you"}}',
        body: '<p>{{name ?? "you"}}, {{profile.tier ?? "no"}} tier, {{email}} {{city}}</p>',
        headers: { 'X-Name': '{{name ?? "nobody"}}' },
        data: { city: 'Graz' },
      }),
    );
    const ids: string[] = reply.body.data.emails.map((item: any) => item.email);
    const contents = await Promise.all(ids.map(contentOf));
    expect(contents.map((content) => content.html)).toEqual([
      `<p>Ann &lt;3, gold tier, ${ann} Graz</p>`,
      `<p>you, no tier, ${bob} Graz</p>`,
    ]);
    expect(contents.map((content) => content.headers)).toEqual([[['X-Name', 'Ann <3']], [['X-Name', 'nobody']]]);
    expect((await Promise.all(ids.map(emailRecord))).map((row) => row.subject)).toEqual(['For Ann <3', 'For you']);
    expect((await contactOf(bob)).data).toEqual({ city: 'Graz' });
  });

  it('sees what another request has committed about the contact, under twenty sends at once', async () => {
    const to = freshEmail();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => send(mail({ to: [to, freshEmail()], data: { [`key${n % 5}`]: n } }))),
    );
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]));
    expect(new Set(replies.map((reply) => reply.body.data.emails[0].contact.id)).size).toBe(1);
    expect(Object.keys((await contactOf(to)).data)).toHaveLength(5);
  });
});

describe('POST /v1/send with a template', () => {
  it('takes subject, body, from and reply from the template', async () => {
    const template = await createTemplate();
    const { emailId, content, subject } = await sendOne({ to: freshEmail(), template, data: { name: 'Ada' } });
    expect(subject).toBe('Welcome Ada');
    expect(content).toMatchObject({
      html: '<p>Dear Ada</p>',
      text: 'Dear Ada',
      fromAddress: 'template@example.com',
      fromName: 'Template',
      replyTo: 'template-reply@example.com',
      headers: [],
    });
    expect((await emailRecord(emailId)).templateId).toBe(template);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['subject', { subject: 'Mine' }, { subject: 'Mine', html: '<p>Dear </p>', fromAddress: 'template@example.com' }],
    ['body', { body: '<b>Mine</b>' }, { subject: 'Welcome friend', html: '<b>Mine</b>' }],
    ['from', { from: FROM }, { fromAddress: FROM, fromName: null, replyTo: 'template-reply@example.com' }],
    ['from with the deprecated name', { from: FROM, name: 'Old' }, { fromAddress: FROM, fromName: 'Old' }],
    ['reply', { reply: 'Mine@example.com' }, { replyTo: 'mine@example.com', fromAddress: 'template@example.com' }],
  ])('lets the request override %s alone', async (_field, change, expected) => {
    const { content, subject } = await sendOne({ to: freshEmail(), template: await createTemplate(), ...change });
    expect({ ...content, subject }).toMatchObject(expected);
  });

  it('gives MARKETING its footer and bulk headers, and HEADLESS neither', async () => {
    const marketing = await sendOne({ to: freshEmail(), template: await createTemplate({ type: 'MARKETING' }) });
    expect(marketing.content.html).toContain('Unsubscribe</a>');
    expect(marketing.content.headers.map(([name]) => name)).toEqual([
      'List-Unsubscribe',
      'List-Unsubscribe-Post',
      'Precedence',
    ]);
    const headless = await sendOne({ to: freshEmail(), template: await createTemplate({ type: 'HEADLESS' }) });
    expect([headless.content.html, headless.content.headers]).toEqual(['<p>Dear </p>', []]);
  });

  it('does not know the templates of others', async () => {
    const theirs = await createTemplate({}, await app.createProject());
    for (const template of [theirs, '019a0000-0000-7000-8000-000000000000']) {
      const reply = await expectNothingWritten(() => send({ to: freshEmail(), template }));
      expect([reply.status, reply.body.error.code]).toEqual([404, 'TEMPLATE_NOT_FOUND']);
    }
    await expectRefused({ to: freshEmail(), template: 'welcome' }, 'template', 'invalid_string');
  });

  it.each(['MARKETING', 'HEADLESS'])('refuses %s to who has opted out, for all recipients', async (type) => {
    const template = await createTemplate({ type });
    const [gone, other] = [freshEmail(), freshEmail()];
    const { body: contact } = await app.api('POST', '/contacts', { body: { email: gone, data: { plan: 'free' } } });
    await app.api('PATCH', `/contacts/${contact.id}`, { body: { subscribed: false } });

    const reply = await expectNothingWritten(() =>
      send({ to: [other, gone], template, data: { plan: 'pro', unheardOf: 1 } }),
    );
    expect([reply.status, reply.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(reply.body.error.details).toEqual({ recipients: [gone] });
    expect((await contactOf(gone)).data).toEqual({ plan: 'free' });

    // Who never consented has not opted out either; TRANSACTIONAL reaches everybody; consent given now counts.
    expect((await send({ to: other, template })).status).toBe(200);
    expect((await send({ to: gone, template: await createTemplate() })).status).toBe(200);
    expect((await send({ to: gone, template, subscribed: true })).status).toBe(200);
  });

  it('refuses MARKETING that withdraws consent in the same breath', async () => {
    const template = await createTemplate({ type: 'MARKETING' });
    const to = freshEmail();
    const { body: contact } = await app.api('POST', '/contacts', { body: { email: to } });
    const reply = await expectNothingWritten(() => send({ to, template, subscribed: false }));
    expect(reply.status).toBe(400);
    expect([(await contactOf(to)).subscribed, await eventNames(contact.id)]).toEqual([true, []]);
  });
});

describe('the subscription of recipients', () => {
  it('is false for new contacts unless told, and nothing is emitted', async () => {
    const [quiet, keen] = [freshEmail(), freshEmail()];
    await send(mail({ to: quiet }));
    await send(mail({ to: keen, subscribed: true }));
    const contacts = [await contactOf(quiet), await contactOf(keen)];
    expect(contacts.map((contact) => contact.subscribed)).toEqual([false, true]);
    expect(await Promise.all(contacts.map((contact) => eventNames(contact.id)))).toEqual([[], []]);
  });

  it('stays when omitted and emits on each change', async () => {
    const to = freshEmail();
    await app.api('POST', '/contacts', { body: { email: to } });
    for (const subscribed of [undefined, true, false, false, undefined, true]) await send(mail({ to, subscribed }));
    const contact = await contactOf(to);
    expect(contact.subscribed).toBe(true);
    expect(await eventNames(contact.id)).toEqual(['contact.unsubscribed', 'contact.subscribed']);
  });
});

describe('the data of a send', () => {
  it('follows the custom data rules and is what this mail is rendered with', async () => {
    const to = freshEmail();
    await app.api('POST', '/contacts', { body: { email: to, data: { kept: 'stored', gone: 1, plan: 'free' } } });
    const { content } = await sendOne(
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
    const contact = await contactOf(to);
    expect(content.html).toBe(`A1|stored|none|pro|${contact.id}|${to}|A1|de|1`);
    expect(contact.data).toEqual({ kept: 'stored', plan: 'pro', locale: 'de' });
    const fields = await query<{ key: string }>(
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
    await expectRefused(mail({ data }), field, code);
  });
});

const BASE64_OF = (bytes: number) => Buffer.alloc(bytes, 'a').toString('base64');
const file = (change: Record<string, unknown> = {}) => ({
  filename: 'a.txt',
  content: 'aGk=',
  contentType: 'text/plain',
  ...change,
});

/** So many headers of so many bytes each, name and value. */
const headersOf = (count: number, bytes: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const name = `X-${String(index).padStart(26, '0')}`;
      return [name, 'x'.repeat(bytes - name.length)];
    }),
  );

describe('limits', () => {
  it.each<[string, Record<string, unknown>]>([
    ['a subject of 998 characters', { subject: 'x'.repeat(998) }],
    ['a header value of 998 characters', { headers: { 'X-Long': 'x'.repeat(998) } }],
    ['an empty header value', { headers: { 'X-Empty': '' } }],
    ['50 headers', { headers: headersOf(50, 30) }],
    ['headers of 32 kB together', { headers: headersOf(32, 1_024) }],
    ['10 attachments', { attachments: Array.from({ length: 10 }, () => file()) }],
    ['attachments of the whole size', { attachments: [file({ content: BASE64_OF(ATTACHMENTS_MAX_BYTES) })] }],
    ['base64 in lines', { attachments: [file({ content: 'aGVs\r\nbG8=' })] }],
    ['a MIME type with parameters', { attachments: [file({ contentType: 'text/plain; charset="utf-8"' })] }],
    ['an inline file with its id', { attachments: [file({ disposition: 'inline', contentId: 'logo@1' })] }],
    ['unknown keys', { colour: 'red' }],
  ])('allow %s', async (_what, change) => {
    expect((await send(mail(change))).status).toBe(200);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['no recipient', { to: undefined }, 'to', 'invalid_type'],
    ['null as recipient', { to: null }, 'to', 'invalid_type'],
    ['an empty list of recipients', { to: [] }, 'to', 'too_small'],
    ['a bad address', { to: 'nobody' }, 'to', 'invalid_string'],
    ['a bad address in an object', { to: { email: 'nobody' } }, 'to.email', 'invalid_string'],
    ['a bad address in a list', { to: ['a@mail.test', 'nobody'] }, 'to.1', 'invalid_string'],
    ['a bad address in an object of a list', { to: ['a@mail.test', { email: 'no' }] }, 'to.1.email', 'invalid_string'],
    ['an object without address', { to: { name: 'N' } }, 'to.email', 'invalid_type'],
    ['two addresses in one text', { to: 'a@mail.test, b@mail.test' }, 'to', 'invalid_string'],
    ['a line break in an address', { to: 'a@mail.test\r\nBcc: b@mail.test' }, 'to', 'invalid_string'],
    [
      'a line break in a recipient name',
      { to: { email: 'a@mail.test', name: 'A\nBcc: b' } },
      'to.name',
      'invalid_string',
    ],
    ['a bad sender', { from: 'nobody' }, 'from', 'invalid_string'],
    ['a sender without an ASCII form', { from: 'jürgen@example.com' }, 'from', 'invalid_string'],
    ['a sender object without one', { from: { email: 'jürgen@example.com' } }, 'from.email', 'invalid_string'],
    ['a reply address whose domain has none', { reply: 'a@xn--ü.test' }, 'reply', 'invalid_string'],
    ['a line break in the sender name', { from: { email: FROM, name: 'A\r\nBcc: b' } }, 'from.name', 'invalid_string'],
    ['a line break in the deprecated name', { name: 'A\nBcc: b@mail.test' }, 'name', 'invalid_string'],
    ['a bad reply address', { reply: 'A <a@mail.test>' }, 'reply', 'invalid_string'],
    ['a line break in the reply address', { reply: 'a@mail.test\nBcc: b@mail.test' }, 'reply', 'invalid_string'],
    ['an empty subject', { subject: '' }, 'subject', 'too_small'],
    ['a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject', 'too_big'],
    ['LF in the subject', { subject: 'a\nBcc: b@mail.test' }, 'subject', 'invalid_string'],
    ['CR in the subject', { subject: 'a\rb' }, 'subject', 'invalid_string'],
    ['an empty body', { body: '' }, 'body', 'too_small'],
    ['a number as body', { body: 5 }, 'body', 'invalid_type'],
    ['a text as subscribed', { subscribed: 'yes' }, 'subscribed', 'invalid_type'],
    ['a list of headers', { headers: ['X-A'] }, 'headers', 'invalid_type'],
    ['a number as header value', { headers: { 'X-A': 1 } }, 'headers.X-A', 'invalid_type'],
    ['LF in a header value', { headers: { 'X-A': 'a\nBcc: b' } }, 'headers.X-A', 'invalid_string'],
    ['CR in a header value', { headers: { 'X-A': 'a\rb' } }, 'headers.X-A', 'invalid_string'],
    ['a header value of 999 characters', { headers: { 'X-A': 'x'.repeat(999) } }, 'headers.X-A', 'invalid_string'],
    ['CR LF in a header name', { headers: { 'X-A\r\nBcc': 'b' } }, 'headers.X-A\r\nBcc', 'invalid_string'],
    ['a colon in a header name', { headers: { 'Bcc:': 'b' } }, 'headers.Bcc:', 'invalid_string'],
    ['an empty header name', { headers: { '': 'b' } }, 'headers.', 'invalid_string'],
    ['a header of the message itself', { headers: { bCC: 'b@mail.test' } }, 'headers.bCC', 'invalid_string'],
    ['a header of the message structure', { headers: { 'Content-Foo': 'x' } }, 'headers.Content-Foo', 'invalid_string'],
    ['51 headers', { headers: headersOf(51, 30) }, 'headers', 'too_big'],
    ['5,000 headers', { headers: headersOf(5_000, 30) }, 'headers', 'too_big'],
    ['headers above 32 kB', { headers: headersOf(33, 1_000) }, 'headers', 'too_big'],
    ['1,001 recipients', { to: Array.from({ length: 1_001 }, () => 'a@mail.test') }, 'to', 'too_big'],
    ['11 attachments', { attachments: Array.from({ length: 11 }, () => file()) }, 'attachments', 'too_big'],
  ])('refuse %s, naming the field', async (_what, change, field, code) => {
    await expectRefused(mail(change), field, code);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['a quote in its name', { filename: 'a".txt' }, 'filename', 'invalid_string'],
    ['an apostrophe in its name', { filename: "a'.txt" }, 'filename', 'invalid_string'],
    ['a newline in its name', { filename: 'a\n.txt' }, 'filename', 'invalid_string'],
    ['no name', { filename: undefined }, 'filename', 'invalid_type'],
    ['content that is not base64', { content: 'not base64!' }, 'content', 'invalid_string'],
    ['base64 cut short', { content: 'aGk' }, 'content', 'invalid_string'],
    ['base64url', { content: 'a-_k' }, 'content', 'invalid_string'],
    ['no content', { content: undefined }, 'content', 'invalid_type'],
    ['a bad MIME type', { contentType: 'pdf' }, 'contentType', 'invalid_string'],
    ['a newline in its MIME type', { contentType: 'text/plain;\r\nX-Evil: 1' }, 'contentType', 'invalid_string'],
    ['inline without an id', { disposition: 'inline' }, 'contentId', 'invalid_type'],
    ['a newline in its id', { contentId: 'a\r\nX-Evil: 1' }, 'contentId', 'invalid_string'],
    ['an unknown disposition', { disposition: 'hidden' }, 'disposition', 'invalid_enum_value'],
  ])('refuse a file with %s, naming its place', async (_what, change, field, code) => {
    await expectRefused(mail({ attachments: [file(), file(change)] }), `attachments.1.${field}`, code);
  });

  it('hold for all files together', async () => {
    const half = file({ content: BASE64_OF(ATTACHMENTS_MAX_BYTES / 2 + 1) });
    await expectRefused(mail({ attachments: [half, half] }), 'attachments', 'too_big');
  });

  it('never name a whole file in the answer', async () => {
    const content = `${'A'.repeat(50_000)}!`;
    const reply = await expectRefused(
      mail({ attachments: [file({ content })] }),
      'attachments.0.content',
      'invalid_string',
    );
    expect(JSON.stringify(reply.body).length).toBeLessThan(5_000);
  });

  it('hold for the whole message as it goes out', async () => {
    await expectRefused(mail({ body: 'x'.repeat(MESSAGE_MAX_BYTES + 1) }), 'body', 'too_big');
    // Three octets each, and base64 on the way: what counts is the message, not its characters.
    await expectRefused(mail({ body: '語'.repeat(MESSAGE_MAX_BYTES / 3) }), 'body', 'too_big');
    const attachments = [file({ content: BASE64_OF(ATTACHMENTS_MAX_BYTES) })];
    await expectRefused(mail({ body: 'x'.repeat(MESSAGE_MAX_BYTES / 2), attachments }), 'body', 'too_big');
    expect((await send(mail({ body: 'x'.repeat(20_000), attachments }))).status).toBe(200);
  });

  it('need subject, body and sender from somewhere', async () => {
    const reply = await expectNothingWritten(() => send({ to: freshEmail() }));
    expect(reply.status).toBe(422);
    expect(reply.body.error.errors.map((error: any) => error.field)).toEqual(['subject', 'body', 'from']);
    for (const field of ['subject', 'body', 'from']) {
      await expectRefused(mail({ [field]: undefined }), field, 'invalid_type');
    }
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['subject', { subject: 'Hi {{#if name}}' }, 'subject'],
    ['body', { body: '<p>{{#each items}}{{/if}}</p>' }, 'body'],
    ['header', { headers: { 'X-A': '{{#if a}}' } }, 'headers.X-A'],
  ])('refuse a syntax fault in the %s', async (_part, change, field) => {
    const reply = await expectRefused(mail(change), field, 'invalid_template');
    expect(reply.body.error.errors[0].message).toMatch(/line 1, column \d+/);
  });

  it('refuse what a template blows up to', async () => {
    await expectRefused(
      mail({
        body: '{{#each list}}{{#each data.list}}xxxxxxxxxx{{/each}}{{/each}}',
        data: { list: { value: Array.from({ length: 900 }, () => 1), persistent: false } },
      }),
      'body',
      'too_big',
    );
  });
});

describe('who may send', () => {
  it.each<[string, string, string]>([
    ['unknown.test', 'DOMAIN_NOT_REGISTERED', 'unknown'],
    ['mail.example.com', 'DOMAIN_NOT_REGISTERED', 'a subdomain of a verified one'],
    ['pending.test', 'DOMAIN_NOT_VERIFIED', 'unverified'],
  ])('refuses the domain %s: %s', async (domain, reason) => {
    const em = app.em();
    if (reason === 'DOMAIN_NOT_VERIFIED') {
      em.create(SenderDomainEntity, { projectId: app.project.id, domain, verified: false });
      await em.flush();
    }
    const reply = await expectNothingWritten(() => send(mail({ from: `hello@${domain}` })));
    expect(reply.status).toBe(403);
    expect(reply.body.error).toMatchObject({
      code: 'INTERNAL_SERVER_ERROR',
      statusCode: 403,
      details: { reason, domain },
    });
  });

  it('refuses a template whose domain another project has', async () => {
    const other = await app.createProject();
    await query(app.em(), sql`delete from sender_domain where project_id = ${other.project.id}`);
    expect((await send(mail(), other)).body.error.details).toEqual({
      reason: 'DOMAIN_NOT_REGISTERED',
      domain: 'example.com',
    });
  });

  it('refuses the public key and a disabled project', async () => {
    const other = await app.createProject();
    const publicKey = await other.api('POST', '/v1/send', { body: mail(), key: 'public' });
    expect([publicKey.status, publicKey.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    await updateProject(app.em(), other.project.id, { disabled: true });
    const disabled = await expectNothingWritten(() => send(mail(), other));
    expect([disabled.status, disabled.body.error.code]).toEqual([403, 'PROJECT_DISABLED']);
  });
});

describe('all or nothing', () => {
  it('writes nothing at all for a list with one recipient that cannot be rendered', async () => {
    const big = freshEmail();
    const small = freshEmail();
    await app.api('POST', '/contacts', { body: { email: big, data: { list: Array.from({ length: 900 }, () => 1) } } });
    const body = '{{#each list}}{{#each data.list}}xxxxxxxxxx{{/each}}{{/each}}';
    await expectRefused(mail({ to: [small, big], body, data: { fresh: 1 } }), 'body', 'too_big');
    expect((await send(mail({ to: small, body }))).status).toBe(200);
  });

  it('sends once for one Idempotency-Key, and frees the key after a refusal', async () => {
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
