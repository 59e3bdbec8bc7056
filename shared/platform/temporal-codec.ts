import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { CodecKey } from './codec-keys.ts';

/** A payload that cannot be decrypted with the given keys. */
export class CodecError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CodecError';
  }
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The name from Temporal's samples, so that its tools recognize it. */
const ENCODING = 'binary/encrypted';
const KEY_ID_FIELD = 'encryption-key-id';

function textOf(payload: Payload, field: string): string {
  const value = payload.metadata?.[field];
  return value ? Buffer.from(value).toString() : '';
}

/** Whether this codec has encrypted a payload. */
export function isEncrypted(payload: Payload): boolean {
  return textOf(payload, 'encoding') === ENCODING;
}

/**
 * Creates a codec that encrypts whole payloads with AES-256-GCM, so that their types do not show. A payload that is not
 * encrypted is read as it is.
 */
export function createPayloadCodec(keys: readonly [CodecKey, ...CodecKey[]]): PayloadCodec {
  const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
  const byId = new Map(keys.map((each) => [each.id, each.key]));
  const [current] = keys;

  function encrypt(payload: Payload): Payload {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(current.id));
    const octets = Buffer.concat([cipher.update(PayloadMessage.encode(payload).finish()), cipher.final()]);
    return {
      metadata: { encoding: Buffer.from(ENCODING), [KEY_ID_FIELD]: Buffer.from(current.id) },
      data: Buffer.concat([nonce, cipher.getAuthTag(), octets]),
    };
  }

  function decrypt(payload: Payload): Payload {
    if (!isEncrypted(payload)) return payload;
    const id = textOf(payload, KEY_ID_FIELD);
    const key = byId.get(id);
    if (!key) {
      throw new CodecError(`A payload is encrypted with the key "${id}", which TEMPORAL_CODEC_KEYS does not name`);
    }
    const data = Buffer.from(payload.data ?? []);
    try {
      const nonce = data.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(id)).setAuthTag(data.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const octets = Buffer.concat([decipher.update(data.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      return PayloadMessage.decode(octets);
    } catch (error) {
      throw new CodecError(
        `A payload cannot be decrypted: the key "${id}" of TEMPORAL_CODEC_KEYS is not the one it was encrypted with`,
        error,
      );
    }
  }

  return {
    encode: async (payloads) => payloads.map(encrypt),
    decode: async (payloads) => payloads.map(decrypt),
  };
}

/** The codec of some keys; undefined when there are none. */
export function codecOf(keys: readonly CodecKey[]): PayloadCodec | undefined {
  const [first, ...others] = keys;
  return first && createPayloadCodec([first, ...others]);
}

/** The data converter of clients and workers; undefined while the codec is off. */
export function dataConverterOf(keys: readonly CodecKey[]): DataConverter | undefined {
  const codec = codecOf(keys);
  return codec && { payloadCodecs: [codec], failureConverterPath: FAILURE_CONVERTER_PATH };
}

/** The path of the failure converter that belongs to the codec. The workflow bundle needs it. */
export const FAILURE_CONVERTER_PATH = fileURLToPath(new URL('temporal-failure-converter.cjs', import.meta.url));
/** The path of the failure converter of workers and their workflow bundle while the codec is off. */
export const PLAIN_FAILURE_CONVERTER_PATH = fileURLToPath(
  new URL('temporal-plain-failure-converter.cjs', import.meta.url),
);
