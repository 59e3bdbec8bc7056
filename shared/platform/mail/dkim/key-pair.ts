import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  generateKeyPair,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';

/** RFC 8301 section 3.2 asks for 1024 at least and recommends 2048; longer keys do not fit every DNS provider. */
const MODULUS_BITS = 2048;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SELECTOR_BYTES = 5;

/** The key of a sender domain as it is stored. */
export interface DkimKeyPair {
  /** The label before `._domainkey` in DNS. */
  selector: string;
  /** SubjectPublicKeyInfo in base64: the `p` tag of the DNS record. */
  publicKey: string;
  /** The sealed private key. */
  sealedPrivateKey: Buffer;
}

export interface DkimKeyring {
  /** Makes a key pair in the thread pool. `owner` is bound to it: it opens for no other. */
  generate: (owner: string) => Promise<DkimKeyPair>;
  /** @throws DkimKeyError when it was sealed under another secret or for another owner, or altered */
  open: (sealedPrivateKey: Uint8Array, owner: string) => KeyObject;
}

/** A stored private key that cannot be read. */
export class DkimKeyError extends Error {
  constructor(cause: unknown) {
    super('The DKIM key cannot be read: APP_SECRET is not the one it was stored under', { cause });
    this.name = 'DkimKeyError';
  }
}

const generateRsa = promisify(generateKeyPair);

/** Makes and opens DKIM keys. At rest they are AES-256-GCM under a key derived from APP_SECRET (HKDF, RFC 5869). */
export function createDkimKeyring(appSecret: string): DkimKeyring {
  const key = Buffer.from(hkdfSync('sha256', appSecret, '', 'everpost DKIM keys', 32));

  function seal(plain: Buffer, owner: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  return {
    async generate(owner) {
      const pair = await generateRsa('rsa', { modulusLength: MODULUS_BITS });
      return {
        selector: `ep${randomBytes(SELECTOR_BYTES).toString('hex')}`,
        publicKey: pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
        sealedPrivateKey: seal(pair.privateKey.export({ type: 'pkcs8', format: 'der' }), owner),
      };
    },
    open(sealedPrivateKey, owner) {
      const sealed = Buffer.from(sealedPrivateKey);
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(owner));
        decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const plain = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
        return createPrivateKey({ key: plain, type: 'pkcs8', format: 'der' });
      } catch (error) {
        throw new DkimKeyError(error);
      }
    },
  };
}
