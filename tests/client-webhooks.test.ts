import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../clients/typescript/src/index.ts';

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const OTHER_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = JSON.stringify({ type: 'email.delivery', timestamp: '2026-11-22T09:00:00.000Z', data: { name: 'Émile' } });

/** The headers that the published library makes for a body. */
function signed(body = BODY, { secret = SECRET, ageSeconds = 0 } = {}) {
  const at = new Date(Date.now() - ageSeconds * 1000);
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  };
}

describe('verifyWebhook', () => {
  it('accepts requests that standardwebhooks has signed, as text or bytes, with the headers of Node or fetch', async () => {
    const headers = signed();
    const event = JSON.parse(BODY);
    expect(await verifyWebhook(BODY, headers, SECRET)).toEqual(event);
    expect(await verifyWebhook(Buffer.from(BODY), new Headers(headers), SECRET)).toEqual(event);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(await verifyWebhook(BODY, upper, SECRET.replace('whsec_', ''))).toEqual(event);
  });

  it('accepts either signature while a secret is being replaced', async () => {
    const headers = signed();
    const both = `${signed(BODY, { secret: OTHER_SECRET })['webhook-signature']} v2,AAAA ${headers['webhook-signature']}`;
    for (const secret of [SECRET, OTHER_SECRET]) {
      expect(await verifyWebhook(BODY, { ...headers, 'webhook-signature': both }, secret)).toHaveProperty('type');
    }
  });

  it.each<[string, string, Record<string, string | undefined>]>([
    ['another body', BODY.replace('Émile', 'Emile'), signed()],
    ['another secret', BODY, signed(BODY, { secret: OTHER_SECRET })],
    ['another id', BODY, { ...signed(), 'webhook-id': 'msg_2' }],
    ['no signature', BODY, { ...signed(), 'webhook-signature': undefined }],
    ['a signature cut short', BODY, { ...signed(), 'webhook-signature': signed()['webhook-signature'].slice(0, 20) }],
    ['a signature that is no base64', BODY, { ...signed(), 'webhook-signature': 'v1,§§§' }],
    ['another version', BODY, { ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1', 'v0') }],
    ['no number as its time', BODY, { ...signed(), 'webhook-timestamp': 'yesterday' }],
    ['a time of six minutes ago', BODY, signed(BODY, { ageSeconds: 360 })],
    ['a time in six minutes', BODY, signed(BODY, { ageSeconds: -360 })],
  ])('refuses a request with %s', async (_case, body, headers) => {
    await expect(verifyWebhook(body, headers, SECRET)).rejects.toThrow(
      expect.objectContaining({ name: 'WebhookVerificationError' }),
    );
  });

  it('lets the caller say how old a request may be', async () => {
    const old = signed(BODY, { ageSeconds: 360 });
    expect(await verifyWebhook(BODY, old, SECRET, { toleranceSeconds: 400 })).toHaveProperty('type');
  });

  it('throws a TypeError for a secret that is not valid', async () => {
    await expect(verifyWebhook(BODY, signed(), 'whsec_')).rejects.toThrow(TypeError);
  });
});
