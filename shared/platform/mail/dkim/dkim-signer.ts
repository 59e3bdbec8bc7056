import { sign, type KeyObject } from 'node:crypto';
import type { RawMessage } from '../data-content.ts';
import { readMessage, relaxField, type RawField } from './canonical.ts';
import { hashRelaxedBody } from './body-hash.ts';

/** Who signs, and under which name the public key stands in DNS: `<selector>._domainkey.<domain>`. */
export interface DkimIdentity {
  /** ASCII, international labels as `xn--`. */
  domain: string;
  selector: string;
  privateKey: KeyObject;
}

export interface DkimSigner {
  /** The message with its DKIM-Signature in front. The line ends must be CRLF. */
  sign: (message: RawMessage) => Promise<RawMessage>;
}

/** What is signed where it is there: what a reader sees, what the parts are, and what a click acts upon. */
const SIGNED_FIELDS = [
  'from',
  'to',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'reply-to',
  'list-unsubscribe',
  'list-unsubscribe-post',
];
/** Named once more than they occur, so that a second one added on the way breaks the signature (section 8.15). */
const OVERSIGNED_FIELDS = ['from'];
const SIGNATURE_LINE_LENGTH = 72;

/** The fields to sign; of several with one name the last stands first (RFC 6376 section 5.4.2). */
function selectFields(fields: readonly RawField[]): RawField[] {
  return SIGNED_FIELDS.flatMap((name) => fields.filter((field) => field.name === name).reverse());
}

function foldNames(names: readonly string[]): string {
  return names.join(':').replace(/.{1,64}:/g, '$&\r\n  ');
}

function fold(base64: string): string {
  return (base64.match(new RegExp(`.{1,${SIGNATURE_LINE_LENGTH}}`, 'g')) ?? []).join('\r\n ');
}

/** RSA in the thread pool: on the main thread a process could do nothing but sign. */
function signOffThread(data: string, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', Buffer.from(data, 'latin1'), key, (error, signature) => {
      if (error) reject(error);
      else resolve(signature);
    });
  });
}

/**
 * Signs messages (RFC 6376: rsa-sha256, relaxed/relaxed). A signature takes about half a millisecond of one core in
 * the thread pool; several may be under way at the same time.
 */
export function createDkimSigner({ domain, selector, privateKey }: DkimIdentity, now = Date.now): DkimSigner {
  return {
    async sign(message) {
      const { fields, bodyStart } = readMessage(message);
      const signed = selectFields(fields);
      const names = [...signed.map((field) => field.name), ...OVERSIGNED_FIELDS];
      const bodyHash = await hashRelaxedBody(message, bodyStart);
      const unsigned =
        `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;\r\n d=${domain}; s=${selector};\r\n` +
        ` t=${Math.floor(now() / 1000)}; bh=${bodyHash};\r\n h=${foldNames(names)};\r\n b=`;
      const input = [...signed, { name: 'dkim-signature', text: unsigned }].map(relaxField).join('\r\n');
      const signature = await signOffThread(input, privateKey);
      const header = `${unsigned}${fold(signature.toString('base64'))}\r\n`;
      return typeof message === 'string' ? header + message : Buffer.concat([Buffer.from(header, 'latin1'), message]);
    },
  };
}
