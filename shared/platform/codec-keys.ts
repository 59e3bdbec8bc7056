export interface CodecKey {
  /** Stored in each payload, so that the right key opens it. */
  id: string;
  /** 32 octets. */
  key: Buffer;
}

const KEYS_MAX = 10;
const KEY_BYTES = 32;

/**
 * Reads `id:base64key,…`.
 * @returns the keys; the first one encrypts
 * @throws Error that names the fault and shows no key
 */
export function parseCodecKeys(text: string): CodecKey[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const keys = items.map((item) => {
    const [, id, encoded] = /^([\w.-]{1,64}):([A-Za-z0-9+/_-]+=*)$/.exec(item) ?? [];
    if (id === undefined || encoded === undefined)
      throw new Error('must be id:key pairs, comma-separated, keys in base64');
    const key = Buffer.from(encoded, 'base64');
    if (key.length !== KEY_BYTES) throw new Error(`the key "${id}" has ${key.length} octets, not ${KEY_BYTES}`);
    return { id, key };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error('names one id twice');
  if (keys.length > KEYS_MAX) throw new Error(`must be at most ${KEYS_MAX}`);
  return keys;
}
