import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ATTACHMENTS_MAX_BYTES,
  FROM,
  freshEmail,
  mail,
  MESSAGE_MAX_BYTES,
  startSendApi,
  type SendApi,
} from '../../tests/support/send.ts';

let app: SendApi;
beforeAll(async () => {
  app = await startSendApi();
});
afterAll(() => app.stop());

const BASE64_OF = (bytes: number) => Buffer.alloc(bytes, 'a').toString('base64');
const file = (change: Record<string, unknown> = {}) => ({
  filename: 'a.txt',
  content: 'aGk=',
  contentType: 'text/plain',
  ...change,
});

/** This many headers of this many bytes each, name and value. */
const headersOf = (count: number, bytes: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const name = `X-${String(index).padStart(26, '0')}`;
      return [name, 'x'.repeat(bytes - name.length)];
    }),
  );

describe('the limits of POST /v1/send', () => {
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
    expect((await app.send(mail(change))).status).toBe(200);
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
    ['a header that steers a relay', { headers: { 'X-smtpAPI': '{}' } }, 'headers.X-smtpAPI', 'invalid_string'],
    ['a number as header value', { headers: { 'X-A': 1 } }, 'headers.X-A', 'invalid_type'],
    ['LF in a header value', { headers: { 'X-A': 'a\nBcc: b' } }, 'headers.X-A', 'invalid_string'],
    ['CR in a header value', { headers: { 'X-A': 'a\rb' } }, 'headers.X-A', 'invalid_string'],
    ['a header value of 999 characters', { headers: { 'X-A': 'x'.repeat(999) } }, 'headers.X-A', 'too_big'],
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
    await app.expectRefused(mail(change), field, code);
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
    await app.expectRefused(mail({ attachments: [file(), file(change)] }), `attachments.1.${field}`, code);
  });

  it('hold for all files together', async () => {
    const half = file({ content: BASE64_OF(ATTACHMENTS_MAX_BYTES / 2 + 1) });
    await app.expectRefused(mail({ attachments: [half, half] }), 'attachments', 'too_big');
  });

  it('never name a whole file in the answer', async () => {
    const content = `${'A'.repeat(50_000)}!`;
    const reply = await app.expectRefused(
      mail({ attachments: [file({ content })] }),
      'attachments.0.content',
      'invalid_string',
    );
    expect(JSON.stringify(reply.body).length).toBeLessThan(5_000);
  });

  it('hold for the whole message as it is sent', async () => {
    await app.expectRefused(mail({ body: 'x'.repeat(MESSAGE_MAX_BYTES + 1) }), 'body', 'too_big');
    // Each character has three octets and is sent as base64: the size of the message counts, not its characters.
    await app.expectRefused(mail({ body: '語'.repeat(MESSAGE_MAX_BYTES / 3) }), 'body', 'too_big');
    const attachments = [file({ content: BASE64_OF(ATTACHMENTS_MAX_BYTES) })];
    await app.expectRefused(mail({ body: 'x'.repeat(MESSAGE_MAX_BYTES / 2), attachments }), 'body', 'too_big');
    expect((await app.send(mail({ body: 'x'.repeat(20_000), attachments }))).status).toBe(200);
  });

  it('require a subject, a body and a sender, from the request or a template', async () => {
    const reply = await app.expectNothingWritten(() => app.send({ to: freshEmail() }));
    expect(reply.status).toBe(422);
    expect(reply.body.error.errors.map((error: any) => error.field)).toEqual(['subject', 'body', 'from']);
    for (const field of ['subject', 'body', 'from']) {
      await app.expectRefused(mail({ [field]: undefined }), field, 'invalid_type');
    }
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['subject', { subject: 'Hi {{#if name}}' }, 'subject'],
    ['body', { body: '<p>{{#each items}}{{/if}}</p>' }, 'body'],
    ['header', { headers: { 'X-A': '{{#if a}}' } }, 'headers.X-A'],
  ])('refuse a syntax fault in the %s', async (_part, change, field) => {
    const reply = await app.expectRefused(mail(change), field, 'invalid_template');
    expect(reply.body.error.errors[0].message).toMatch(/line 1, column \d+/);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['subject', 'subject', { subject: 'Hi *|FNAME|*' }],
    ['body', 'body', { body: '<p>{% if plan %}Thanks{% endif %}</p>' }],
    ['body', 'body', { body: '<p>Hi {{ name | upcase }}</p>' }],
    ['text', 'text', { text: 'Hi <%= name %>' }],
    ['preheader', 'preheader', { preheader: '{{^paid}}' }],
    ['header', 'headers.X-A', { headers: { 'X-A': '{{ .Name }}' } }],
  ])('refuse another template language in the %s', async (_part, field, change) => {
    const reply = await app.expectRefused(mail(change), field, 'invalid_template');
    expect(reply.body.error.errors[0].message).toMatch(/line 1, column \d+/);
  });

  it('take what looks like another language where it is quoted', async () => {
    const { content } = await app.sendOne(mail({ body: '<p>{{"{% if x %}"}} {{"*|FNAME|*"}}</p>' }));
    expect(content.html).toBe('<p>{% if x %} *|FNAME|*</p>');
  });

  it('refuse a template that renders to too much', async () => {
    await app.expectRefused(
      mail({
        body: '{{#each list}}{{#each data.list}}xxxxxxxxxx{{/each}}{{/each}}',
        data: { list: { value: Array.from({ length: 900 }, () => 1), persistent: false } },
      }),
      'body',
      'too_big',
    );
  });
});
