import type { Payload, PayloadCodec } from '@temporalio/common';
import { isEncrypted } from './temporal-codec.ts';

/**
 * A payload in the JSON form of protobuf, with octets in base64: the form that the Temporal UI and CLI exchange with a
 * codec server.
 */
export interface PayloadJson {
  metadata?: Record<string, string> | undefined;
  data?: string | undefined;
}

/** The payload of its JSON form. */
export function payloadFromJson({ metadata, data }: PayloadJson): Payload {
  const fields = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value, 'base64')] as const);
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data ?? '', 'base64') };
}

/** The JSON form of a payload. */
export function payloadToJson({ metadata, data }: Payload): PayloadJson {
  const fields = Object.entries(metadata ?? {}).map(
    ([name, value]) => [name, Buffer.from(value).toString('base64')] as const,
  );
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data ?? []).toString('base64') };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Reads a value of a history as an encrypted payload; undefined when it is none. */
function encryptedPayload(value: Record<string, unknown>): Payload | undefined {
  const { metadata, data } = value;
  if (!isObject(metadata) || typeof metadata['encoding'] !== 'string') return undefined;
  const payload = payloadFromJson({
    metadata: metadata as Record<string, string>,
    data: typeof data === 'string' ? data : '',
  });
  return isEncrypted(payload) ? payload : undefined;
}

/** Moves the message and the stack of a failure to the fields that they have without a codec. */
function unfoldFailure(failure: Record<string, unknown>): Record<string, unknown> {
  const { encodedAttributes, ...others } = failure;
  if (!isObject(encodedAttributes) || typeof encodedAttributes['data'] !== 'string') return failure;
  try {
    const text = Buffer.from(encodedAttributes['data'], 'base64').toString();
    const { message, stack_trace: stackTrace } = JSON.parse(text) as { message?: string; stack_trace?: string };
    return { ...others, message, stackTrace };
  } catch {
    return failure;
  }
}

/**
 * Decrypts everything in a history in JSON (`historyToJSON`).
 * @throws CodecError when a key is missing
 */
export async function decodeHistoryJson(value: unknown, codec: PayloadCodec): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => decodeHistoryJson(item, codec)));
  if (!isObject(value)) return value;
  const encrypted = encryptedPayload(value);
  if (encrypted) {
    const [decoded] = await codec.decode([encrypted]);
    return decoded && payloadToJson(decoded);
  }
  const entries = await Promise.all(
    Object.entries(value).map(async ([name, item]) => [name, await decodeHistoryJson(item, codec)] as const),
  );
  return unfoldFailure(Object.fromEntries(entries));
}
