import type { RawMessage } from '../data-content.ts';

const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;

function isWhiteSpace(octet: number): boolean {
  return octet === SPACE || octet === TAB || octet === CR || octet === LF;
}

/** A header field of a message as it stands there, folds included, without its final CRLF. */
export interface RawField {
  /** Lower case. */
  name: string;
  text: string;
}

/** Splits a message with CRLF line ends into its header fields and where its body begins. */
export function readMessage(message: RawMessage): { fields: RawField[]; bodyStart: number } {
  const end = message.indexOf('\r\n\r\n');
  const headerEnd = end < 0 ? message.length : end;
  const header = typeof message === 'string' ? message.slice(0, headerEnd) : message.toString('latin1', 0, headerEnd);
  const fields = header
    .split(/\r\n(?![ \t])/)
    .filter((text) => text !== '')
    .map((text) => ({ name: text.slice(0, text.indexOf(':')).trimEnd().toLowerCase(), text }));
  return { fields, bodyStart: end < 0 ? message.length : end + 4 };
}

/** The relaxed form of a header field (RFC 6376 section 3.4.2), without a final CRLF. */
export function relaxField({ name, text }: RawField): string {
  const value = text
    .slice(text.indexOf(':') + 1)
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '');
  return `${name}:${value}`;
}

/** Where a body ends for the relaxed form: after its last octet that is not white space. */
export function relaxedBodyEnd(message: RawMessage, bodyStart: number): number {
  const octetAt = (index: number) => (typeof message === 'string' ? message.charCodeAt(index) : (message[index] ?? 0));
  let end = message.length;
  while (end > bodyStart && isWhiteSpace(octetAt(end - 1))) end -= 1;
  return end;
}

/** True when a part of a body is its own relaxed form. Both kinds are searched natively, most bodies in no time. */
function isRelaxed(part: RawMessage): boolean {
  return !part.includes('  ') && !part.includes('\t') && !part.includes(' \r\n');
}

/** The relaxed form of whole lines of a body (RFC 6376 section 3.4.4); empty lines at its end are the caller's. */
export function relaxLines<Part extends RawMessage>(part: Part): Part | string {
  if (isRelaxed(part)) return part;
  const text = typeof part === 'string' ? part : part.toString('latin1');
  return text.replace(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n');
}
