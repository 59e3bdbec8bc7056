/** One event, as an endpoint receives it. */
export interface WebhookEvent {
  /** Its name, such as `email.delivery`; `batch` for a list of events. */
  type: string;
  /** When it happened. */
  timestamp: string;
  /** What happened; for a batch the list of events. */
  data: unknown;
}

export interface VerifyWebhookOptions {
  /** How old a request may be, or how far ahead of this clock. 300 when left out. */
  toleranceSeconds?: number;
}

/** The request is not from Everpost, or too old. Answer it with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const PREFIX = 'whsec_';

function headerOf(headers: HeadersLike, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing`);
  return value;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function checkAge(timestamp: string, toleranceSeconds: number): void {
  const ageSeconds = /^\d{1,15}$/.test(timestamp) ? Date.now() / 1000 - Number(timestamp) : Number.NaN;
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    throw new WebhookVerificationError('The request is too old, or from the future');
  }
}

/**
 * Verifies a request as Standard Webhooks says, and reads it. `crypto.subtle.verify` compares in constant time.
 * @param payload the raw body
 * @param secret of the endpoint, `whsec_…`
 * @returns the event
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  payload: string | Uint8Array,
  headers: HeadersLike,
  secret: string,
  { toleranceSeconds = 300 }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  checkAge(timestamp, toleranceSeconds);
  const rawKey = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (!rawKey?.length) throw new TypeError(`The secret of an endpoint is ${PREFIX} and base64`);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', rawKey, algorithm, false, ['verify']);
  const text = typeof payload === 'string' ? payload : new TextDecoder().decode(payload);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  // While a secret is being replaced, there is a signature with each of the two secrets.
  for (const signature of signatures.split(' ')) {
    const [version, encoded = ''] = signature.split(',');
    const bytes = version === 'v1' ? fromBase64(encoded) : undefined;
    if (bytes && (await crypto.subtle.verify(algorithm, key, bytes, signed))) return JSON.parse(text) as WebhookEvent;
  }
  throw new WebhookVerificationError('No signature matches');
}
