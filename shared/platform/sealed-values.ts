import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Config } from './config.ts';

/** APP_SECRET and its earlier values. */
export interface AppSecrets {
  /** Signs and seals new values. */
  appSecret: string;
  /** They verify and open older values. */
  previousSecrets?: readonly string[];
}

/**
 * Encrypts values that have to be read again, with AES-256-GCM under keys derived from the secrets (HKDF, RFC 5869).
 */
export interface Sealer {
  /** Binds the value to its owner: it opens for no other. */
  seal: (plain: Buffer, owner: string) => Buffer;
  /**
   * @throws SealError when the value was altered, or was sealed for another owner or under a secret that is not given
   */
  open: (sealed: Uint8Array, owner: string) => Buffer;
  /** Whether a value is sealed under APP_SECRET itself. */
  isCurrent: (sealed: Uint8Array) => boolean;
}

/** A sealed value that cannot be read. */
export class SealError extends Error {
  constructor(what: string, cause?: unknown) {
    super(`${what} cannot be read: APP_SECRET is not the one it was stored under, nor is one of APP_SECRETS_PREVIOUS`, {
      cause,
    });
    this.name = 'SealError';
  }
}

/** The beginning of a sealed value; the id of its secret follows. */
const MARK = Buffer.from([0xe5, 0x45, 0x50, 0x01]);
const ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The secrets of this installation. */
export function appSecretsOf(config: Pick<Config, 'APP_SECRET' | 'APP_SECRETS_PREVIOUS'>): AppSecrets {
  return { appSecret: config.APP_SECRET, previousSecrets: config.APP_SECRETS_PREVIOUS };
}

/** APP_SECRET first, then its earlier values, without duplicates. */
export function allSecrets({ appSecret, previousSecrets = [] }: AppSecrets): string[] {
  return [...new Set([appSecret, ...previousSecrets])];
}

/** Derives a key of 32 octets for one purpose from each secret; the first key belongs to APP_SECRET. */
export function deriveKeys(secrets: AppSecrets, purpose: string): [Buffer, ...Buffer[]] {
  const derive = (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  const [first, ...others] = allSecrets(secrets);
  return [derive(first ?? ''), ...others.map(derive)];
}

/** Identifies a secret without revealing it: 16 hex digits. */
export function secretId(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'everpost secret id', ID_BYTES)).toString('hex');
}

function decrypt(key: Buffer, sealed: Buffer, owner: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner));
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}

/** Creates the sealer for one purpose: a value sealed for one purpose opens for no other. */
export function createSealer(secrets: AppSecrets, purpose: string): Sealer {
  const keys = deriveKeys(secrets, purpose);
  const [current] = keys;
  const prefixes = allSecrets(secrets).map((secret) => Buffer.concat([MARK, Buffer.from(secretId(secret), 'hex')]));
  const [prefix = MARK] = prefixes;

  return {
    seal(plain, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([prefix, nonce, cipher.getAuthTag(), sealed]);
    },
    open(sealed, owner) {
      const octets = Buffer.from(sealed);
      const key = keys[prefixes.findIndex((each) => each.equals(octets.subarray(0, each.length)))];
      if (!key) throw new SealError('A sealed value');
      try {
        return decrypt(key, octets.subarray(prefix.length), owner);
      } catch (error) {
        throw new SealError('A sealed value', error);
      }
    },
    isCurrent: (sealed) => Buffer.from(sealed.subarray(0, prefix.length)).equals(prefix),
  };
}
