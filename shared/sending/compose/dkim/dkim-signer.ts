import { type KeyObject, createHash, hash } from 'node:crypto';
import type { RawMessage } from '../../transport/data-content.ts';
import { readMessage, relaxField, type RawField, relaxLines, relaxedBodyEnd } from './canonical.ts';
import { signingThreads } from './signing-threads.ts';
import { yieldNow } from '../../../platform/yielding.ts';

/** Large bodies are hashed in parts of this size, so that other work of the event loop runs in between. */
const PART_BYTES = 256 * 1024;
const CRLF = '\r\n';

/** The end of the last whole line at or before `limit`; `limit` itself when there is none. */
function lineEnd(body: Buffer, start: number, limit: number): number {
  if (limit >= body.length) return body.length;
  const at = body.lastIndexOf(CRLF, limit - 2);
  return at < start ? limit : at + 2;
}

/**
 * The SHA-256 of the relaxed body (RFC 6376 section 3.4.4) in base64: the `bh` tag. The message must be as the composer
 * makes it: CRLF line ends, lines of bounded length, and only ASCII if it is text.
 */
async function hashRelaxedBody(message: RawMessage, bodyStart: number): Promise<string> {
  const end = relaxedBodyEnd(message, bodyStart);
  if (end === bodyStart) return hash('sha256', '', 'base64');
  if (typeof message === 'string' && end - bodyStart <= PART_BYTES) {
    return hash('sha256', relaxLines(message.slice(bodyStart, end)) + CRLF, 'base64');
  }
  const octets = typeof message === 'string' ? Buffer.from(message, 'latin1') : message;
  const body = octets.subarray(bodyStart, end);
  const digest = createHash('sha256');
  for (let start = 0; start < body.length;) {
    const stop = lineEnd(body, start, start + PART_BYTES);
    const part = relaxLines(body.subarray(start, stop));
    digest.update(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    start = stop;
    if (start < body.length) await yieldNow();
  }
  return digest.update(CRLF).digest('base64');
}

/** The domain, selector and key of a signature; the public key is in DNS at `<selector>._domainkey.<domain>`. */
export interface DkimIdentity {
  /** In ASCII, with internationalised labels as A-labels (`xn--`). */
  domain: string;
  selector: string;
  privateKey: KeyObject;
}

export interface DkimSigner {
  /** Returns the message with a DKIM-Signature field in front. Line ends must be CRLF. */
  sign: (message: RawMessage) => Promise<RawMessage>;
}

/**
 * The fields that are signed if present: those that a reader sees, the MIME structure, and those that mail programs use
 * to unsubscribe.
 */
const SIGNED_FIELDS = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'reply-to',
  'list-id',
  'feedback-id',
  'auto-submitted',
  'list-unsubscribe',
  'list-unsubscribe-post',
];
/**
 * Listed once more than it occurs, so that a second one added in transit breaks the signature (RFC 6376 section 8.15).
 */
const OVERSIGNED_FIELD = 'from';
const SIGNATURE_LINE_LENGTH = 72;

/**
 * The fields to sign. Of several fields with one name, the last one in the message comes first (RFC 6376 section
 * 5.4.2).
 */
function selectFields(fields: readonly RawField[]): RawField[] {
  const selected: RawField[] = [];
  for (const name of SIGNED_FIELDS) {
    for (let index = fields.length - 1; index >= 0; index -= 1) {
      const field = fields[index];
      if (field?.name === name) selected.push(field);
    }
  }
  return selected;
}

/**
 * Creates the function that lists the names of the signed fields, folded. Nearly all emails of a sender have the same
 * list, so the last one is kept.
 */
function createNameFolder(): (signed: readonly RawField[]) => string {
  let latest = '';
  let latestFolded = '';
  return (signed) => {
    let names = '';
    for (const { name } of signed) names += `${name}:`;
    names += OVERSIGNED_FIELD;
    if (names !== latest) {
      latest = names;
      latestFolded = names.replace(/.{1,64}:/g, '$&\r\n  ');
    }
    return latestFolded;
  };
}

function fold(base64: string): string {
  let folded = base64.slice(0, SIGNATURE_LINE_LENGTH);
  for (let at = SIGNATURE_LINE_LENGTH; at < base64.length; at += SIGNATURE_LINE_LENGTH) {
    folded += `\r\n ${base64.slice(at, at + SIGNATURE_LINE_LENGTH)}`;
  }
  return folded;
}

/**
 * Creates a signer of messages (RFC 6376: rsa-sha256, relaxed/relaxed). It signs in threads; several messages may be
 * signed at the same time.
 */
export function createDkimSigner({ domain, selector, privateKey }: DkimIdentity, now = Date.now): DkimSigner {
  const foldNames = createNameFolder();
  return {
    async sign(message) {
      const { fields, bodyStart } = readMessage(message);
      const signed = selectFields(fields);
      const bodyHash = await hashRelaxedBody(message, bodyStart);
      const unsigned =
        `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;\r\n d=${domain}; s=${selector};\r\n` +
        ` t=${Math.floor(now() / 1000)}; bh=${bodyHash};\r\n h=${foldNames(signed)};\r\n b=`;
      let input = '';
      for (const field of signed) input += `${relaxField(field)}\r\n`;
      input += relaxField({ name: 'dkim-signature', text: unsigned });
      const header = `${unsigned}${fold(await signingThreads().sign(input, privateKey))}\r\n`;
      return typeof message === 'string' ? header + message : Buffer.concat([Buffer.from(header, 'latin1'), message]);
    },
  };
}
