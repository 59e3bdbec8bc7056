import type { RawMessage } from '../../smtp/data-content.ts';

const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;

function isBlank(octet: number): boolean {
  return octet === SPACE || octet === TAB;
}

function isWhiteSpace(octet: number): boolean {
  return isBlank(octet) || octet === CR || octet === LF;
}

/** A header field of a message as it stands there, folds included, without its final CRLF. */
export interface RawField {
  /** Lower case. */
  name: string;
  text: string;
}

/** Lower-case forms of the few names that occur; one that is not known yet costs more. */
const NAMES_MAX = 200;
const lowerCaseNames = new Map<string, string>();

function toLowerCaseName(name: string): string {
  const known = lowerCaseNames.get(name);
  if (known !== undefined) return known;
  const lowerCase = name.trimEnd().toLowerCase();
  if (lowerCaseNames.size < NAMES_MAX) lowerCaseNames.set(name, lowerCase);
  return lowerCase;
}

/** Splits a message with CRLF line ends into its header fields and where its body begins. */
export function readMessage(message: RawMessage): { fields: RawField[]; bodyStart: number } {
  const end = message.indexOf('\r\n\r\n');
  const headerEnd = end < 0 ? message.length : end;
  const header = typeof message === 'string' ? message.slice(0, headerEnd) : message.toString('latin1', 0, headerEnd);
  const fields: RawField[] = [];
  for (let start = 0; start < header.length;) {
    let stop = header.indexOf('\r\n', start);
    // A line that begins with white space goes on with the field before it.
    while (stop >= 0 && isBlank(header.charCodeAt(stop + 2))) stop = header.indexOf('\r\n', stop + 2);
    if (stop < 0) stop = header.length;
    const text = header.slice(start, stop);
    if (text !== '') fields.push({ name: toLowerCaseName(text.slice(0, text.indexOf(':'))), text });
    start = stop + 2;
  }
  return { fields, bodyStart: end < 0 ? message.length : end + 4 };
}

/** The relaxed form of a header field (RFC 6376 section 3.4.2), without a final CRLF. */
export function relaxField({ name, text }: RawField): string {
  const value = text.slice(text.indexOf(':') + 1);
  const relaxed = /[\t\r]| {2}| $/.test(value) ? value.replaceAll('\r\n', '').replace(/[ \t]+/g, ' ') : value;
  const from = relaxed.startsWith(' ') ? 1 : 0;
  const to = relaxed.length > from && relaxed.endsWith(' ') ? relaxed.length - 1 : relaxed.length;
  return `${name}:${relaxed.slice(from, to)}`;
}

/** Where a body ends for the relaxed form: after its last octet that is not white space. */
export function relaxedBodyEnd(message: RawMessage, bodyStart: number): number {
  const octetAt = (index: number) => (typeof message === 'string' ? message.charCodeAt(index) : (message[index] ?? 0));
  let end = message.length;
  while (end > bodyStart && isWhiteSpace(octetAt(end - 1))) end -= 1;
  return end;
}

/** True when no white space of a part of a body is to be joined. Both kinds are searched natively, most in no time. */
function isDense(part: RawMessage): boolean {
  return !part.includes('\t') && !part.includes('  ');
}

/** True when no line ends in a space; by the ends of the lines, which are fewer than the spaces. */
function isTrimmed(part: RawMessage): boolean {
  for (let end = part.indexOf('\r\n'); end >= 0; end = part.indexOf('\r\n', end + 2)) {
    if ((typeof part === 'string' ? part.charCodeAt(end - 1) : part[end - 1]) === SPACE) return false;
  }
  return true;
}

/**
 * The relaxed form of whole lines of a body (RFC 6376 section 3.4.4); empty lines at its end are the caller's. Only what
 * is to be changed is searched for: a search for all white space stops at each word, which takes four times as long.
 */
export function relaxLines<Part extends RawMessage>(part: Part): Part | string {
  const wasDense = isDense(part);
  if (wasDense && isTrimmed(part)) return part;
  const text = typeof part === 'string' ? part : part.toString('latin1');
  const dense = wasDense ? text : text.replace(/[ \t]{2,}|\t/g, ' ');
  return dense.replaceAll(' \r\n', '\r\n');
}
