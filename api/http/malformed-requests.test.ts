import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi, type TestReply } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const post = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  app.api('POST', '/contacts', { raw, headers });
const contactWith = (data: string) => `{"email":"a@example.com","data":${data}}`;
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + '1' + close.repeat(depth);

function expectError(reply: TestReply, status: number, code: string): void {
  expect([reply.status, reply.body.success, reply.body.error.code, reply.body.error.statusCode]).toEqual([
    status,
    false,
    code,
    status,
  ]);
}

async function contactCount(): Promise<number | undefined> {
  return (await app.api('GET', '/contacts')).body.total;
}

describe('a body', () => {
  it.each(['{', '{"email":}', "{'email':'a@example.com'}", '{"a":1}{"b":2}', '\u0000', 'undefined', '{"a":"\n"}'])(
    'that is not JSON is a 400: %j',
    async (raw) => expectError(await post(raw), 400, 'BAD_REQUEST'),
  );

  it.each([
    ['text/plain', '{"email":"a@example.com"}'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/jsonish', '{}'],
    ['application/json; charset=iso-8859-1', '{}'],
  ])('of type %s is a 415', async (type, raw) => {
    const reply = await post(raw, { 'content-type': type });
    expectError(reply, 415, 'UNSUPPORTED_MEDIA_TYPE');
    expect(reply.body.error.message).toContain(`it was sent as ${type}`);
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/merge-patch+json'])(
    'of type %s is read',
    async (type) => {
      expect((await post('{"email":"typed@example.com"}', { 'content-type': type })).status).toBeLessThan(300);
    },
  );

  it('may be compressed, but not beyond the limit, and not in a way we do not know', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    expect((await post(new Uint8Array(gzipSync('{"email":"gzip@example.com"}')), gzip)).status).toBe(201);
    expectError(
      await post(new Uint8Array(gzipSync(contactWith(`{"a":"${'0'.repeat(20_000_000)}"}`))), gzip),
      413,
      'PAYLOAD_TOO_LARGE',
    );
    expectError(
      await post(new Uint8Array(gzipSync('{"email":"cut@example.com"}').subarray(0, 20)), gzip),
      400,
      'BAD_REQUEST',
    );
    expectError(await post('{}', gzip), 400, 'BAD_REQUEST');
    expectError(await post('{}', { 'content-encoding': 'zstd-ish' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it('over 5 MiB is a 413 that says the limit', async () => {
    const reply = await post(contactWith(`{"a":"${'x'.repeat(5 * 1024 * 1024)}"}`));
    expectError(reply, 413, 'PAYLOAD_TOO_LARGE');
    expect(reply.body.error.details).toEqual({ limitBytes: 5 * 1024 * 1024 });
  });

  it('over 3.5 MiB outside of long texts is a 413 that says the limit', async () => {
    const text = `"${'x'.repeat(60 * 1024)}"`;
    const reply = await post(contactWith(`{"a":[${Array(61).fill(text).join()}]}`));
    expectError(reply, 413, 'PAYLOAD_TOO_LARGE');
    expect(reply.body.error.details).toEqual({ limitBytes: 3.5 * 1024 * 1024 });
  });

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('nested 10,000 and 1,000,000 deep in %s is a 400', async (_what, open, close) => {
    expectError(await post(contactWith(nested(10_000, open, close))), 400, 'BAD_REQUEST');
    expectError(await post(contactWith(nested(5_000_000 / (open.length + 1), open, close))), 400, 'BAD_REQUEST');
  });

  it('nested 300 deep is stored and read', async () => {
    const reply = await post(contactWith(`{"deep":${nested(300, '[', ']')}}`));
    expect(reply.status).toBeLessThan(300);
    expect(JSON.stringify(reply.body.data.deep)).toBe(nested(300, '[', ']'));
  });

  it.each([
    ['NUL in a value', contactWith('{"a":"x\\u0000y"}'), 'data.a'],
    ['NUL in a key', contactWith('{"x\\u0000":1}'), 'data'],
    ['a lone surrogate in a value', contactWith('{"a":{"b":["\\ud800"]}}'), 'data.a.b.0'],
    ['a lone surrogate in a key', contactWith('{"\\udc00":1}'), 'data'],
    ['a number beyond a double', contactWith('{"a":1e400}'), 'data.a'],
    ['NUL in the address', '{"email":"a\\u0000@example.com"}', 'email'],
  ])('with %s is a 422 that names the field, and nothing is stored', async (_what, raw, field) => {
    const before = await contactCount();
    const reply = await post(raw);
    expectError(reply, 422, 'VALIDATION_ERROR');
    expect(reply.body.error.errors[0].field).toBe(field);
    expect(await contactCount()).toBe(before);
  });

  it('keeps pairs of surrogates and everything else that is Unicode', async () => {
    const text = '😀 \u2028 \u{10ffff} ﷺ e\u0301';
    const reply = await app.api('POST', '/contacts', { body: { email: 'unicode@example.com', data: { text } } });
    expect(reply.body.data.text).toBe(text);
  });
});

describe('a request', () => {
  it('to an unknown route is a 404 in the envelope', async () => {
    for (const [method, path] of [
      ['GET', '/nothing'],
      ['POST', '/v2/track'],
      ['DELETE', '/contacts/a/b/c'],
    ] as const) {
      const reply = await app.api(method, path, { key: null });
      expectError(reply, 404, 'RESOURCE_NOT_FOUND');
      expect(reply.body.error.message).toContain(`${method} ${path}`);
    }
  });

  it('with a path that is not encoded properly is a 400', async () => {
    expectError(await app.api('GET', '/contacts/%E0%A4%A'), 400, 'BAD_REQUEST');
  });

  it.each(['abc', 'trace-1/2:3', '~'.repeat(128)])('keeps its own id %s', async (id) => {
    const reply = await app.api('GET', '/contacts', { key: null, headers: { 'x-request-id': id } });
    expect([reply.headers.get('x-request-id'), reply.body.error.requestId]).toEqual([id, id]);
  });

  it.each(['', 'a b', 'é', 'x'.repeat(129), 'ada@example.com', 'for-ada%40example.com'])(
    'gets a new id in place of %j',
    async (id) => {
      const reply = await app.api('GET', '/health', { key: null, headers: { 'x-request-id': id } });
      expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    },
  );

  it('reveals nothing internal when something unexpected fails', async () => {
    await query(app.em(), sql`alter table contact add constraint secret_rule check (email <> 'boom@example.com')`);
    const reply = await app.api('POST', '/contacts', { body: { email: 'boom@example.com' } });
    expect(reply.status).toBe(500);
    expect(reply.body).toEqual({
      success: false,
      error: {
        code: 'INTERNAL_SERVER_ERROR',
        message: 'An unexpected error occurred',
        statusCode: 500,
        requestId: reply.headers.get('x-request-id'),
        suggestion: 'See /docs/errors/INTERNAL_SERVER_ERROR',
      },
      timestamp: expect.any(String),
    });
    expect(reply.headers.get('x-powered-by')).toBeNull();
  });
});
