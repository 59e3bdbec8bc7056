import { timingSafeEqual } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { isReturnPathHost } from '../../pure/emails/return-path.ts';
import { deriveMacs, type Mac } from '../../platform/mac.ts';
import type { AppSecrets } from '../../platform/sealed-values.ts';
import { bytesToUuid, UUID_BYTES, uuidsToBytes } from '../../platform/uuid-bytes.ts';

const PREFIX = 'bounce+';
const UNSUBSCRIBE_PREFIX = 'unsubscribe+';
/**
 * Together with the id 25 bytes: exactly 40 characters of base32, which keeps the local part below the 64 octets of RFC
 * 5321.
 */
const SIGNATURE_BYTES = 9;
const TOKEN = /^[a-z2-7]{40}$/;
/**
 * The alphabet of RFC 4648 in lower case. Tokens must not depend on case, because servers may change the case of a
 * local part.
 */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

function toBase32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((value >>> bits) & 31);
    }
  }
  return text;
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text) {
    value = ((value << 5) | BASE32.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >>> bits) & 0xff);
    }
  }
  return Buffer.from(bytes);
}

/** Creates and reads envelope senders at `domain`, signed with a key derived from APP_SECRET. */
export function createVerp({ domain, ...secrets }: AppSecrets & { domain: string }) {
  const returnMacs = deriveMacs(secrets, 'everpost return paths');
  const unsubscribeMacs = deriveMacs(secrets, 'everpost unsubscribe addresses');
  const inboundHost = domainToASCII(domain) || domain.toLowerCase();
  const takesBounces = (host: string): boolean => host === inboundHost || isReturnPathHost(host);
  const sign = (id: Buffer, mac: Mac): Buffer => mac(id).subarray(0, SIGNATURE_BYTES);

  function makeLocalPart(prefix: string, emailId: string, mac: Mac): string {
    const id = uuidsToBytes(emailId);
    return `${prefix}${toBase32(Buffer.concat([id, sign(id, mac)]))}`;
  }

  function readLocalPart(prefix: string, local: string, signers: readonly Mac[]): string | undefined {
    const token = local.slice(prefix.length);
    if (!local.startsWith(prefix) || !TOKEN.test(token)) return undefined;
    const bytes = fromBase32(token);
    const id = bytes.subarray(0, UUID_BYTES);
    if (!signers.some((mac) => timingSafeEqual(sign(id, mac), bytes.subarray(UUID_BYTES)))) return undefined;
    return bytesToUuid(id);
  }

  return {
    /** The envelope sender of an email, at `host` or else at the inbound domain. */
    returnPath: (emailId: string, host = inboundHost): string =>
      `${makeLocalPart(PREFIX, emailId, returnMacs[0])}@${host}`,
    /**
     * The email that an address was made for; undefined when it was not made here, was altered, or is neither at the
     * inbound domain nor at the return path of a sender domain. It need not be the sender domain of the email, because
     * the signature proves that the address is ours.
     */
    readAddress(address: string): string | undefined {
      const at = address.lastIndexOf('@');
      if (!takesBounces(domainToASCII(address.slice(at + 1)))) return undefined;
      return readLocalPart(PREFIX, address.slice(0, at).toLowerCase(), returnMacs);
    },
    /** The address for unsubscribing by email (RFC 2369), one for each email. */
    unsubscribeAddress: (emailId: string): string =>
      `${makeLocalPart(UNSUBSCRIBE_PREFIX, emailId, unsubscribeMacs[0])}@${inboundHost}`,
    /** The email that an unsubscribe address was made for; undefined as above. */
    readUnsubscribeAddress(address: string): string | undefined {
      const at = address.lastIndexOf('@');
      if (domainToASCII(address.slice(at + 1)) !== inboundHost) return undefined;
      return readLocalPart(UNSUBSCRIBE_PREFIX, address.slice(0, at).toLowerCase(), unsubscribeMacs);
    },
  };
}

/**
 * Envelope senders that name their email (variable envelope return paths). So the address that a bounce comes back to
 * identifies the email, whatever the text of the bounce says.
 */
export type Verp = ReturnType<typeof createVerp>;
