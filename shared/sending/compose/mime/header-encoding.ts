import { LINE_LENGTH_HARD } from './body-encoding.ts';
import { needsUtf8, toRecipientAddress, utf8Octets } from '../../transport/wire-address.ts';

/** A mailbox (RFC 5322 section 3.4): an address and optionally a display name. */
export interface Mailbox {
  address: string;
  name?: string;
}

const LINE_LENGTH = 78;
/** RFC 2047 section 2: the limits of a line with an encoded word, and of the word itself. */
const ENCODED_LINE_LENGTH = 76;
const ENCODED_WORD_LENGTH = 75;
const ENCODED_WORD_FRAME = '=?UTF-8?B??='.length;
/** With less space after a long header name, the first encoded word goes to the next line. */
const ENCODED_WORD_LENGTH_MIN = 24;

const PRINTABLE = /^[\x20-\x7e]*$/;
const UNSAFE_GLOBAL = /[\0-\x08\x0a-\x1f\x7f\u2028\u2029]/g;
const ATOMS = /^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/;

/** 1 for a character that may be literal in every Q-encoded word (RFC 2047 section 5 rule 3). */
const Q_LITERAL = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/') {
  Q_LITERAL[character.charCodeAt(0)] = 1;
}
const SPACE = 0x20;

/** Removes characters that can end a line or are not allowed in a header, and white space at both ends. */
export function cleanHeaderText(text: string): string {
  return PRINTABLE.test(text) ? text.trim() : text.replace(UNSAFE_GLOBAL, '').trim();
}

/** The first octet at or before `end` that does not continue a UTF-8 sequence. */
function codePointStart(octets: Buffer, end: number): number {
  let at = end;
  while (at > 0 && ((octets[at] ?? 0) & 0xc0) === 0x80) {
    at -= 1;
  }
  return at;
}

function quotedPrintableWord(octets: Buffer, start: number, lengthMax: number): { encoded: string; end: number } {
  let encoded = '';
  let at = start;
  while (at < octets.length) {
    let next = at + 1;
    while (next < octets.length && ((octets[next] ?? 0) & 0xc0) === 0x80) next += 1;
    let piece = '';
    for (let index = at; index < next; index += 1) {
      const octet = octets[index] ?? 0;
      if (Q_LITERAL[octet]) {
        piece += String.fromCharCode(octet);
      } else if (octet === SPACE) {
        piece += '_';
      } else {
        piece += (octet < 16 ? '=0' : '=') + octet.toString(16).toUpperCase();
      }
    }
    if (encoded.length + piece.length > lengthMax) break;
    encoded += piece;
    at = next;
  }
  return { encoded, end: at };
}

/**
 * Encodes text as encoded words (RFC 2047) in UTF-8, with Q or B, whichever is shorter. The words are folded, and none
 * splits a code point.
 * @param lineUsed the characters already on the first line
 */
export function encodeWords(text: string, lineUsed: number): string {
  const octets = Buffer.from(text, 'utf8');
  let quotedLength = 0;
  for (const octet of octets) quotedLength += Q_LITERAL[octet] || octet === SPACE ? 1 : 3;
  const isQ = quotedLength <= Math.ceil(octets.length / 3) * 4;

  let result = '';
  let space = ENCODED_LINE_LENGTH - lineUsed;
  if (space < ENCODED_WORD_LENGTH_MIN) {
    result = '\r\n ';
    space = ENCODED_WORD_LENGTH;
  }
  let start = 0;
  while (start < octets.length) {
    const payloadMax = Math.min(space, ENCODED_WORD_LENGTH) - ENCODED_WORD_FRAME;
    if (start > 0) result += '\r\n ';
    if (isQ) {
      const { encoded, end } = quotedPrintableWord(octets, start, payloadMax);
      result += `=?UTF-8?Q?${encoded}?=`;
      start = end;
    } else {
      const end = Math.min(start + Math.floor(payloadMax / 4) * 3, octets.length);
      const wordEnd = end === octets.length ? end : codePointStart(octets, end);
      result += `=?UTF-8?B?${octets.toString('base64', start, wordEnd)}?=`;
      start = wordEnd;
    }
    space = ENCODED_WORD_LENGTH;
  }
  return result;
}

/**
 * Folds printable text at white space (RFC 5322 section 2.2.3) into lines of 78 characters where words allow it.
 * @returns undefined when a word is too long for a line of 998
 */
function fold(text: string, lineUsed: number): string | undefined {
  let result = '';
  let used = lineUsed;
  let lineStart = 0;
  while (text.length - lineStart + used > LINE_LENGTH) {
    // A break goes before the last space of a run, so that no line consists of white space only.
    let at = text.lastIndexOf(' ', lineStart + LINE_LENGTH - used);
    while (at > lineStart && text[at + 1] === ' ') at = text.lastIndexOf(' ', at - 1);
    if (at <= lineStart) {
      at = text.indexOf(' ', lineStart + 1);
      while (at >= 0 && text[at + 1] === ' ') at += 1;
    }
    const lineEnd = at < 0 ? text.length : at;
    if (lineEnd - lineStart + used > LINE_LENGTH_HARD) return undefined;
    if (at < 0) break;
    result += `${text.slice(lineStart, at)}\r\n`;
    lineStart = at;
    used = 0;
  }
  return result + text.slice(lineStart);
}

/** The value of a List-Id (RFC 2919) with a quoted name. */
const NAMED_LIST = /^"((?:[^"\\]|\\.)+)" <([^<>]*)>$/;

/**
 * Encodes one header field, with its CRLF. The value is text: characters that could start another field are removed;
 * text that is not ASCII, cannot be folded or looks like an encoded word becomes encoded words. Of a
 * List-Id with a name, only the name is text.
 */
export function encodeHeader(name: string, value: string): string {
  const text = cleanHeaderText(value);
  const [, listName, listId] = (name.toLowerCase() === 'list-id' && NAMED_LIST.exec(text)) || [];
  if (listName !== undefined && listId !== undefined && PRINTABLE.test(listId)) {
    return encodeNamed(name, listName.replace(/\\(.)/g, '$1'), listId);
  }
  if (PRINTABLE.test(text) && !text.includes('=?')) {
    if (name.length + 2 + text.length <= LINE_LENGTH) return `${name}: ${text}\r\n`;
    const folded = fold(text, name.length + 2);
    if (folded !== undefined) return `${name}: ${folded}\r\n`;
  }
  const encoded = encodeWords(text, name.length + 2);
  return encoded.startsWith('\r\n') ? `${name}:${encoded}\r\n` : `${name}: ${encoded}\r\n`;
}

/**
 * Encodes a header field with one mailbox, such as From or To, with its CRLF.
 * @param isUtf8 whether the message goes to a server with SMTPUTF8. Then an address may be UTF-8, one octet per character;
 *   otherwise one with a non-ASCII local part is the name of an empty group (RFC 6857 section 3.1.9)
 * @throws UnsendableAddressError
 */
export function encodeMailboxHeader(name: string, mailbox: Mailbox, isUtf8 = false): string {
  const address = toRecipientAddress(mailbox.address);
  const shown = mailbox.name === undefined ? '' : cleanHeaderText(mailbox.name);
  if (isUtf8 || !needsUtf8(address)) return encodeNamed(name, shown, utf8Octets(address));
  return `${name}: ${encodeWords(`${shown} ${address}`.trim(), name.length + 2)} :;\r\n`;
}

/**
 * Encodes a header field with any number of mailboxes, such as Cc, each on a line of its own.
 *
 * @throws UnsendableAddressError
 */
export function encodeMailboxesHeader(name: string, mailboxes: readonly Mailbox[], isUtf8 = false): string {
  const fields = mailboxes.map((mailbox) => encodeMailboxHeader(name, mailbox, isUtf8).slice(name.length + 2, -2));
  return fields.length === 0 ? '' : `${name}: ${fields.join(',\r\n ')}\r\n`;
}

/** Encodes a header field with a display name (RFC 5322 section 3.4) before what stands in angle brackets. */
function encodeNamed(name: string, displayName: string, address: string): string {
  const lineUsed = name.length + 2;
  if (displayName === '') return `${name}: ${address}\r\n`;
  let phrase: string;
  if (displayName.length + lineUsed > LINE_LENGTH || !PRINTABLE.test(displayName) || displayName.includes('=?')) {
    phrase = encodeWords(displayName, lineUsed);
  } else if (ATOMS.test(displayName)) {
    phrase = displayName;
  } else {
    phrase = `"${displayName.replace(/["\\]/g, '\\$&')}"`;
  }
  const lastLineLength = phrase.includes('\n') ? phrase.length - phrase.lastIndexOf('\n') : lineUsed + phrase.length;
  const separator = lastLineLength + address.length + 3 > LINE_LENGTH ? '\r\n ' : ' ';
  return `${name}: ${phrase}${separator}<${address}>\r\n`;
}
