import type { RawMessage } from '../../transport/data-content.ts';

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

/** A header field as it is in the message, with its folds, without the final CRLF. */
export interface RawField {
  /** Lower case. */
  name: string;
  text: string;
}

/** Lower-case forms of header names. Few names occur, and a lookup is faster than the conversion. */
const NAMES_MAX = 200;
const lowerCaseNames = new Map<string, string>();

function toLowerCaseName(name: string): string {
  const known = lowerCaseNames.get(name);
  if (known !== undefined) return known;
  const lowerCase = name.trimEnd().toLowerCase();
  if (lowerCaseNames.size < NAMES_MAX) lowerCaseNames.set(name, lowerCase);
  return lowerCase;
}

/** Splits a message with CRLF line ends into its header fields and the start of its body. */
export function readMessage(message: RawMessage): { fields: RawField[]; bodyStart: number } {
  const end = message.indexOf('\r\n\r\n');
  const headerEnd = end < 0 ? message.length : end;
  const header = typeof message === 'string' ? message.slice(0, headerEnd) : message.toString('latin1', 0, headerEnd);
  const fields: RawField[] = [];
  for (let start = 0; start < header.length;) {
    let stop = header.indexOf('\r\n', start);
    // A line that begins with white space continues the field.
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

/** The end of a body in relaxed form: after its last octet that is not white space. */
export function relaxedBodyEnd(message: RawMessage, bodyStart: number): number {
  const octetAt = (index: number) => (typeof message === 'string' ? message.charCodeAt(index) : (message[index] ?? 0));
  let end = message.length;
  while (end > bodyStart && isWhiteSpace(octetAt(end - 1))) end -= 1;
  return end;
}

/** Whether a part of a body has no white space to reduce. Both searches run natively. */
function hasNoRuns(part: RawMessage): boolean {
  return !part.includes('\t') && !part.includes('  ');
}

/** Whether no line ends in a space. It looks at line ends, which are fewer than spaces. */
function isTrimmed(part: RawMessage): boolean {
  for (let end = part.indexOf('\r\n'); end >= 0; end = part.indexOf('\r\n', end + 2)) {
    if ((typeof part === 'string' ? part.charCodeAt(end - 1) : part[end - 1]) === SPACE) return false;
  }
  return true;
}

/**
 * The relaxed form of whole lines of a body (RFC 6376 section 3.4.4); the caller removes empty lines at the end of the
 * body. It searches only for text to change: a search for all white space stops at each word and takes four times as
 * long.
 */
export function relaxLines<Part extends RawMessage>(part: Part): Part | string {
  const hadNoRuns = hasNoRuns(part);
  if (hadNoRuns && isTrimmed(part)) return part;
  const text = typeof part === 'string' ? part : part.toString('latin1');
  const reduced = hadNoRuns ? text : text.replace(/[ \t]{2,}|\t/g, ' ');
  return reduced.replaceAll(' \r\n', '\r\n');
}
