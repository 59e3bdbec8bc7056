import { createPrivateKey, generateKeyPair, randomBytes, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { createSealer, SealError } from '../../../platform/sealed-values.ts';

/** RFC 8301 section 3.2 requires 1024 bits and recommends 2048. Longer keys do not fit every DNS provider. */
const MODULUS_BITS = 2048;
const SELECTOR_BYTES = 5;

/** The key of a sender domain as it is stored. */
export interface DkimKeyPair {
  /** The label before `._domainkey` in DNS. */
  selector: string;
  /** SubjectPublicKeyInfo in base64: the `p` tag of the DNS record. */
  publicKey: string;
  sealedPrivateKey: Buffer;
}

export interface DkimKeyring {
  /** Creates a key pair in the thread pool. It is bound to `owner`: it opens for no other. */
  generate: (owner: string) => Promise<DkimKeyPair>;
  /** @throws DkimKeyError when the key was altered, or was sealed for another owner or under an unknown secret */
  open: (sealedPrivateKey: Uint8Array, owner: string) => KeyObject;
  /**
   * Seals a key under APP_SECRET.
   * @returns undefined when it is already sealed under it
   * @throws DkimKeyError as `open`
   */
  reseal: (sealedPrivateKey: Uint8Array, owner: string) => Buffer | undefined;
}

/** A stored private key that cannot be decrypted. */
export class DkimKeyError extends SealError {
  constructor(cause: unknown) {
    super('The DKIM key', cause);
    this.name = 'DkimKeyError';
  }
}

const generateRsa = promisify(generateKeyPair);

/** Creates and opens DKIM keys, sealed under APP_SECRET. Keys sealed under an earlier secret open as well. */
export function createDkimKeyring(appSecret: string, previousSecrets: readonly string[] = []): DkimKeyring {
  const sealer = createSealer({ appSecret, previousSecrets }, 'everpost DKIM keys');

  function unseal(sealedPrivateKey: Uint8Array, owner: string): Buffer {
    try {
      return sealer.open(sealedPrivateKey, owner);
    } catch (error) {
      throw new DkimKeyError(error);
    }
  }

  return {
    async generate(owner) {
      const pair = await generateRsa('rsa', { modulusLength: MODULUS_BITS });
      return {
        selector: `ep${randomBytes(SELECTOR_BYTES).toString('hex')}`,
        publicKey: pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
        sealedPrivateKey: sealer.seal(pair.privateKey.export({ type: 'pkcs8', format: 'der' }), owner),
      };
    },
    open(sealedPrivateKey, owner) {
      return createPrivateKey({ key: unseal(sealedPrivateKey, owner), type: 'pkcs8', format: 'der' });
    },
    reseal(sealedPrivateKey, owner) {
      if (sealer.isCurrent(sealedPrivateKey)) return undefined;
      return sealer.seal(unseal(sealedPrivateKey, owner), owner);
    },
  };
}
