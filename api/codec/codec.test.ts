import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseCodecKeys } from '../../shared/platform/codec-keys.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

const TOKEN = 'a token of the payload codec, long enough';
const UI = 'https://temporal.example.test';
const keys = (octet: number) => parseCodecKeys(`k1:${Buffer.alloc(32, octet).toString('base64')}`);
const plain = { metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: Buffer.from('"words"').toString('base64') };

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({
    config: { TEMPORAL_CODEC_KEYS: keys(1), TEMPORAL_CODEC_TOKEN: TOKEN, TEMPORAL_UI_ORIGIN: [UI] },
  });
});
afterAll(() => app.stop());

const post = (work: string, body: unknown, { key = TOKEN, on = app }: { key?: string | null; on?: TestApi } = {}) =>
  on.api('POST', `/codec/${work}`, { key, body });

describe('POST /codec/encode and /codec/decode', () => {
  it('turn payloads into what Temporal stores and back', async () => {
    const encoded = await post('encode', { payloads: [plain] });
    expect(encoded.status).toBe(200);
    expect(JSON.stringify(encoded.body)).not.toContain(plain.data);
    const decoded = await post('decode', encoded.body);
    expect(decoded.body).toEqual({ payloads: [plain] });
    expect(decoded.headers.get('cache-control')).toBe('no-store');
  });

  it('give payloads without encryption back as they are', async () => {
    const empty = { metadata: { encoding: 'YmluYXJ5L251bGw=' } };
    expect((await post('decode', { payloads: [plain, empty] })).body.payloads).toEqual([plain, { ...empty, data: '' }]);
  });

  it.each([null, 'another token', TOKEN.slice(1), 'secret'])('are closed without the token (%s)', async (key) => {
    const reply = await post('decode', { payloads: [plain] }, { key });
    expect([reply.status, reply.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
  });

  it('tell which key is missing', async () => {
    const other = await startTestApi({ config: { TEMPORAL_CODEC_KEYS: keys(2), TEMPORAL_CODEC_TOKEN: TOKEN } });
    const { body } = await post('encode', { payloads: [plain] });
    const reply = await post('decode', body, { on: other });
    await other.stop();
    expect([reply.status, reply.body.error.message]).toEqual([
      400,
      expect.stringContaining('"k1" of TEMPORAL_CODEC_KEYS'),
    ]);
  });

  it.each([
    [{}],
    [{ payloads: 'x' }],
    [{ payloads: [{ data: 'no base64!' }] }],
    [{ payloads: Array(2_001).fill(plain) }],
  ])('refuse a body that has no valid payloads', async (body) => {
    expect((await post('decode', body)).status).toBe(422);
  });

  it('refuse bodies beyond 4 MB', async () => {
    const data = Buffer.alloc(4_000_000).toString('base64');
    expect((await post('decode', { payloads: [{ data }] })).status).toBe(413);
  });

  it('let the pages of the Temporal UI read their answers, and no others', async () => {
    const preflight = async (origin: string) => {
      const reply = await app.api('OPTIONS', '/codec/decode', {
        key: null,
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      return [
        reply.status,
        reply.headers.get('access-control-allow-origin'),
        reply.headers.get('access-control-allow-headers'),
      ];
    };
    expect(await preflight(UI)).toEqual([204, UI, 'Authorization, Content-Type, X-Namespace']);
    expect(await preflight('https://evil.example')).toEqual([204, null, 'Authorization, Content-Type, X-Namespace']);
  });

  it('do not exist without keys, or without a token', async () => {
    for (const config of [{ TEMPORAL_CODEC_KEYS: keys(1) }, { TEMPORAL_CODEC_TOKEN: TOKEN }]) {
      const closed = await startTestApi({ config });
      const reply = await post('decode', { payloads: [] }, { on: closed });
      await closed.stop();
      expect(reply.status).toBe(404);
    }
  });
});
