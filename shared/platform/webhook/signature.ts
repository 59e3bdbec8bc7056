import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/**
 * The headers by which a receiver knows that a webhook is ours and has not been altered, as the Standard Webhooks
 * specification has them: HMAC-SHA-256 over id, time and body.
 * @param secret `whsec_` and base64, as the receiver was given it
 * @param at seconds since 1970
 */
export function signatureHeaders(secret: string, id: string, at: number, body: string): Record<string, string> {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` };
}
