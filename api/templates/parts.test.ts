import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freshEmail, MESSAGE_MAX_BYTES, startSendApi, type SendApi } from '../../tests/support/send.ts';

let app: SendApi;
beforeAll(async () => {
  app = await startSendApi();
});
afterAll(() => app.stop());

const content = { name: 'N', subject: 'S', body: '<p>HTML</p>', from: 'hello@example.com' };
const parts = { text: 'Hello {{name ?? "you"}}', preheader: 'For {{name}}' };
const audience = { audienceType: 'ALL' };

/** Templates and campaigns take the same parts; a campaign is answered in an envelope. */
const RESOURCES = [
  ['/templates', content, (body: any) => body],
  ['/campaigns', { ...content, ...audience }, (body: any) => body.data],
] as const;

describe.each(RESOURCES)('%s', (path, body, dataOf) => {
  it('stores and copies a text part and a preheader, and has none by default', async () => {
    expect(dataOf((await app.api('POST', path, { body })).body)).toMatchObject({ text: null, preheader: null });
    const created = dataOf((await app.api('POST', path, { body: { ...body, ...parts } })).body);
    expect(created).toMatchObject(parts);
    const copy = await app.api('POST', `${path}/${created.id}/duplicate`);
    expect(copy.body).toMatchObject(parts);
  });

  it.each<[string, unknown]>([
    ['text', ''],
    ['text', 5],
    ['text', 'x'.repeat(2_000_001)],
    ['preheader', ''],
    ['preheader', 'a\nb'],
    ['preheader', 'x'.repeat(501)],
  ])('refuses a bad %s', async (field, value) => {
    const reply = await app.api('POST', path, { body: { ...body, [field]: value } });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, field]);
  });

  it.each(['text', 'preheader'])('refuses a %s that does not compile, or is of another language', async (field) => {
    for (const source of ['a {{#if b}}', '{{ a | upcase }}']) {
      const reply = await app.api('POST', path, { body: { ...body, [field]: source } });
      expect([reply.status, reply.body.error.details?.field]).toEqual([400, field]);
    }
  });
});

describe('PATCH /templates/:id', () => {
  it('changes and clears the text part and the preheader', async () => {
    const { id } = (await app.api('POST', '/templates', { body: { ...content, ...parts } })).body;
    const patch = async (body: object) => (await app.api('PATCH', `/templates/${id}`, { body })).body;
    expect(await patch({ text: 'New' })).toMatchObject({ ...parts, text: 'New' });
    expect(await patch({ text: null, preheader: null })).toMatchObject({ text: null, preheader: null });
  });
});

describe('PUT /campaigns/:id', () => {
  it('replaces the text part and the preheader', async () => {
    const body = { ...content, ...audience };
    const { id } = (await app.api('POST', '/campaigns', { body: { ...body, ...parts } })).body.data;
    const replaced = await app.api('PUT', `/campaigns/${id}`, { body });
    expect(replaced.body).toMatchObject({ text: null, preheader: null });
  });
});

describe('POST /v1/send', () => {
  it('sends the text part as it is written, and the preheader in the HTML alone', async () => {
    const { content: sent } = await app.sendOne({
      to: freshEmail(),
      from: 'hello@example.com',
      subject: 'S',
      body: '<p>HTML</p>',
      data: { name: 'A & B' },
      ...parts,
    });
    expect(sent.text).toBe('Hello A & B');
    expect(sent.html).toMatch(/^<div style="display:none[^>]*>For A &amp; B&#847;.*<\/div><p>HTML<\/p>$/);
  });

  it('takes the parts of the template, but not its text with another body', async () => {
    const template = await app.createTemplate(parts);
    const send = async (change: object) => (await app.sendOne({ to: freshEmail(), template, ...change })).content;
    expect(await send({})).toMatchObject({ text: 'Hello you', html: expect.stringContaining('>For&#847;') });
    expect(await send({ text: 'Mine' })).toMatchObject({ text: 'Mine', html: expect.stringContaining('Dear') });
    expect(await send({ body: '<p>Mine</p>', preheader: 'Own' })).toMatchObject({
      text: 'Mine',
      html: expect.stringContaining('>Own&#847;'),
    });
  });

  it.each([
    ['text', '{{#if a}}'],
    ['text', 'x'.repeat(MESSAGE_MAX_BYTES)],
    ['text', ''],
    ['preheader', '{{/each}}'],
    ['preheader', 'a\nb'],
    ['preheader', 'x'.repeat(501)],
  ])('refuses a bad %s', async (field, value) => {
    const body = { to: freshEmail(), from: 'hello@example.com', subject: 'S', body: 'B', [field]: value };
    const reply = await app.expectNothingWritten(() => app.send(body));
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, field]);
  });

  it('names the field when the rendered text is larger than an email may be', async () => {
    const data = { list: { value: Array(1_000).fill('x'.repeat(300)), persistent: false } };
    const text = '{{#each list}}{{this}}{{/each}}'.repeat(8);
    const body = { to: freshEmail(), from: 'hello@example.com', subject: 'S', body: 'B', text, data };
    const reply = await app.expectNothingWritten(() => app.send(body));
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, 'text']);
  });
});
