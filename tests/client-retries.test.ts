import { describe, expect, it } from '@jest/globals';
import { Everpost, type EverpostError, type EverpostOptions } from '../clients/typescript/src/index.ts';

type Reply = Response | Error;
interface Call {
  url: string;
  method: string;
  key: string | null;
  authorization: string | null;
}

const EMAIL = { to: 'ada@mail.test', from: 'hello@example.com', subject: 'a', body: 'b' };
const SENT = { success: true, data: { emails: [], timestamp: '2026-11-22T09:00:00.000Z' } };

const failing = (status: number, headers: Record<string, string> = {}) =>
  new Response('<h1>No</h1>', { status, headers });
const json = (status: number, body: unknown) => Response.json(body, { status });
const used = (originalStatusCode: number | null, originalRequest = 'POST /v1/send') =>
  json(409, {
    error: {
      code: 'IDEMPOTENCY_KEY_REUSED',
      details: { originalStatusCode, originalRequest, originalRequestAt: '2026-11-22T09:00:00.000Z' },
    },
  });
const cut = () => new TypeError('fetch failed');

/** A client whose requests get these replies, one after the other. */
function clientOf(replies: Reply[], options: Partial<EverpostOptions> = {}) {
  const calls: Call[] = [];
  const everpost = new Everpost({
    url: 'https://everpost.test/api/',
    secretKey: 'sk_1',
    publicKey: 'pk_1',
    maxRetries: 2,
    ...options,
    fetch: async (url, init) => {
      const headers = new Headers(init.headers);
      const [key, authorization] = [headers.get('idempotency-key'), headers.get('authorization')];
      calls.push({ url, method: init.method!, key, authorization });
      const reply = replies[calls.length - 1];
      if (!(reply instanceof Response)) throw reply ?? new Error('one request too many');
      return reply;
    },
  });
  return { everpost, calls };
}

/** The error that a call fails with. */
const failureOf = (work: Promise<unknown>) => work.catch((error: unknown) => error) as Promise<EverpostError>;

describe('a request of the client', () => {
  it.each([429, 500, 502, 503, 504])('that fails with %s is sent again under the same key', async (status) => {
    const { everpost, calls } = clientOf([failing(status), json(200, SENT)]);
    expect(await everpost.send(EMAIL)).toMatchObject({ isAnswerLost: false });
    expect(calls[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    expect(calls[1]).toEqual(calls[0]);
  });

  it('has a key of its own, or the key of the caller', async () => {
    const { everpost, calls } = clientOf([json(200, SENT), json(200, SENT), json(200, SENT)]);
    await everpost.send(EMAIL);
    await everpost.send(EMAIL);
    await everpost.send(EMAIL, { idempotencyKey: 'order-1' });
    expect(new Set(calls.map(({ key }) => key)).size).toBe(3);
    expect(calls[2]?.key).toBe('order-1');
  });

  it('counts as done when its key is already used after a cut connection', async () => {
    const { everpost } = clientOf([cut(), used(null), used(200)]);
    expect(await everpost.send(EMAIL)).toEqual({
      emails: [],
      timestamp: '2026-11-22T09:00:00.000Z',
      warnings: [],
      isAnswerLost: true,
    });
  });

  it('does not count as done when its key was used by another kind of request', async () => {
    const { everpost } = clientOf([cut(), used(200, 'POST /campaigns/:id/resend')]);
    expect(await failureOf(everpost.send(EMAIL))).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  it('counts as done when an earlier call has used its key', async () => {
    const { everpost } = clientOf([used(200)]);
    expect(await everpost.send(EMAIL, { idempotencyKey: 'order-1' })).toMatchObject({ emails: [], isAnswerLost: true });
  });

  it.each([400, 401, 403, 404, 409, 413, 422])('that fails with %s is not repeated', async (status) => {
    const { everpost, calls } = clientOf([failing(status)]);
    expect(await failureOf(everpost.send(EMAIL))).toMatchObject({ status, code: 'UNEXPECTED_ANSWER' });
    expect(calls).toHaveLength(1);
  });

  it.each<[string, Reply]>([
    ['503', failing(503)],
    ['a cut connection', cut()],
  ])('that fails with %s is not repeated when a repetition could have a second effect', async (_case, reply) => {
    const { everpost, calls } = clientOf([reply]);
    await failureOf(everpost.campaigns.send('1'));
    expect(calls).toHaveLength(1);
  });

  it('is repeated after a 429 in any case, because the API did nothing', async () => {
    const { everpost, calls } = clientOf([failing(429), json(200, {})]);
    await everpost.campaigns.send('1');
    expect(calls).toHaveLength(2);
  });

  it('that only reads or sets a value is repeated after a 503 and after a cut connection', async () => {
    const { everpost, calls } = clientOf([cut(), json(200, {}), failing(503), json(200, {}), cut(), json(200, {})]);
    await everpost.contacts.get('1');
    await everpost.contacts.update('1', { subscribed: true });
    await everpost.contacts.upsert({ email: 'ada@mail.test' });
    expect(calls.map(({ method }) => method)).toEqual(['GET', 'GET', 'PATCH', 'PATCH', 'POST', 'POST']);
  });

  it('that deletes counts as done when the record is gone after a cut connection, but not when it never existed', async () => {
    await expect(clientOf([cut(), failing(404)]).everpost.contacts.delete('1')).resolves.toBeUndefined();
    expect(await failureOf(clientOf([failing(404)]).everpost.contacts.delete('1'))).toMatchObject({ status: 404 });
  });

  it('waits as long as Retry-After says, and gives up when that is too long', async () => {
    const { everpost } = clientOf([failing(503, { 'Retry-After': '1' }), json(200, SENT)]);
    const startedAt = performance.now();
    await everpost.send(EMAIL);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    const busy = clientOf([failing(429, { 'Retry-After': '3600' })]);
    expect(await failureOf(busy.everpost.send(EMAIL))).toMatchObject({ status: 429, retryAfter: 3600 });
  });

  it('fails with the last error when no retry is left', async () => {
    const { everpost, calls } = clientOf([cut(), cut(), cut()]);
    const error = await failureOf(everpost.send(EMAIL));
    expect(error).toMatchObject({ status: 0, code: 'CONNECTION_FAILED', cause: expect.any(TypeError) });
    expect(calls).toHaveLength(3);
  });

  it('ends at once when the caller aborts it, also during a pause', async () => {
    const { everpost, calls } = clientOf([failing(503, { 'Retry-After': '60' })]);
    const controller = new AbortController();
    const work = everpost.send(EMAIL, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(work).rejects.toThrow('enough');
    expect(calls).toHaveLength(1);
  });

  it('fails when no answer comes in time', async () => {
    const everpost = new Everpost({
      url: 'https://everpost.test',
      secretKey: 'sk_1',
      timeoutMs: 50,
      maxRetries: 0,
      fetch: (_url, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    const error = await failureOf(everpost.contacts.get('1'));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', message: 'No answer came in time' });
  });
});

describe('the API keys', () => {
  it('are used for the endpoints that take them', async () => {
    const { everpost, calls } = clientOf([json(200, SENT), json(200, SENT)]);
    await everpost.send(EMAIL);
    await everpost.track({ email: 'ada@mail.test', event: 'e' });
    expect(calls.map(({ url, authorization }) => [url, authorization])).toEqual([
      ['https://everpost.test/api/v1/send', 'Bearer sk_1'],
      ['https://everpost.test/api/v1/track', 'Bearer pk_1'],
    ]);
  });

  it('cause an error with the name of the option when they are missing or exchanged', async () => {
    const onlyPublic = clientOf([], { secretKey: undefined }).everpost;
    expect(await failureOf(onlyPublic.send(EMAIL))).toMatchObject({
      code: 'MISSING_KEY',
      message: '/v1/send needs the option secretKey',
    });
    const onlySecret = clientOf([], { publicKey: undefined }).everpost;
    expect(await failureOf(onlySecret.track({ email: 'a@b.test', event: 'e' }))).toMatchObject({
      message: '/v1/track needs the option publicKey',
    });
    expect(() => clientOf([], { secretKey: 'pk_1' })).toThrow('secretKey is a key that begins with sk_');
  });
});
