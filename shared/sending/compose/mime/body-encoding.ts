import type { Steps } from '../../../pure/steps.ts';
import { textPieces } from '../../../pure/text-pieces.ts';
import { mapLines, toLineFeeds } from '../line-ends.ts';

export const LINE_LENGTH_HARD = 998;
const QUOTED_LINE_LENGTH = 76;
const BASE64_LINE_LENGTH = 76;

const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const EQUALS = 0x3d;
/** Continues a line (RFC 2045 section 6.7). */
const SOFT_BREAK = '=\r\n';
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

/** 1 for an octet that quoted-printable never has to encode (RFC 2045 section 6.7). */
const QP_LITERAL = new Uint8Array(256);
for (let octet = 0x21; octet <= 0x7e; octet += 1) QP_LITERAL[octet] = octet === EQUALS ? 0 : 1;

/** An encoded text body: every line ends in CRLF, ASCII only, no line longer than 998 octets. */
export interface EncodedBody {
  encoding: '7bit' | 'quoted-printable' | 'base64';
  content: string;
}

/** Converts LF line ends to CRLF. */
function toNetworkLines(text: string): Steps<string> {
  return mapLines(text, (lines) => lines.split('\n').join('\r\n'));
}

/** Whether no line of a text with LF line ends is too long for SMTP. */
function* linesFit(text: string): Steps<boolean> {
  let start = 0;
  for (let round = 1; text.length - start > LINE_LENGTH_HARD; round++) {
    const end = text.lastIndexOf('\n', start + LINE_LENGTH_HARD);
    if (end < start) return false;
    start = end + 1;
    if (round % 1_000 === 0) yield 'pause';
  }
  return true;
}

/** One line in quoted-printable, with soft line breaks (RFC 2045 section 6.7). */
function quoteOctets(octets: Uint8Array): string {
  const length = octets.length;
  // Three characters for every octet, and three for each soft break after at most 25 such triples.
  const output = Buffer.allocUnsafe(length * 3 + Math.ceil(length / 20) * 3 + 8);
  const columnMax = QUOTED_LINE_LENGTH - 1;
  let position = 0;
  let column = 0;
  for (let index = 0; index < length; index += 1) {
    const octet = octets[index] ?? 0;
    const isBlank = octet === SPACE || octet === TAB;
    const isLiteral = isBlank ? index + 1 < length : QP_LITERAL[octet] === 1;
    const width = isLiteral ? 1 : 3;
    if (column + width > columnMax) {
      output[position++] = EQUALS;
      output[position++] = CR;
      output[position++] = LF;
      column = 0;
    }
    if (isLiteral) {
      output[position++] = octet;
    } else {
      output[position++] = EQUALS;
      output[position++] = HEX[octet >> 4] ?? 0;
      output[position++] = HEX[octet & 15] ?? 0;
    }
    column += width;
  }
  return output.toString('latin1', 0, position);
}

const KEPT_LINES_MAX = 2_000;
const KEPT_LENGTH_MIN = 24;
const KEPT_LENGTH_MAX = 1_000;
const keptLines = new Map<string, string>();

/** Encodes a line. Most lines are the same in all emails of a campaign, so results are kept. */
function quoteLine(line: string): string {
  if (line === '') return line;
  if (line.length < KEPT_LENGTH_MIN || line.length > KEPT_LENGTH_MAX) return quoteOctets(Buffer.from(line, 'utf8'));
  const known = keptLines.get(line);
  if (known !== undefined) return known;
  const octets = Buffer.from(line, 'utf8');
  const quoted = quoteOctets(octets);
  if (keptLines.size >= KEPT_LINES_MAX) keptLines.clear();
  // The key is a copy, because the line is a slice that would keep the whole text in memory.
  keptLines.set(octets.toString('utf8'), quoted);
  return quoted;
}

/** Encodes a text with LF line ends in quoted-printable. */
function encodeQuotedPrintable(text: string): Steps<string> {
  return mapLines(text, (lines, isLast) => {
    const quoted = lines.split('\n').map(quoteLine).join('\r\n');
    return isLast || lines.endsWith('\n') ? quoted : quoted + SOFT_BREAK;
  });
}

/** Encodes octets, one per character and with CRLF line ends, in quoted-printable. */
export function encodeQuotedPrintableOctets(octets: string): string {
  return octets
    .split('\r\n')
    .map((line) => quoteOctets(Buffer.from(line, 'latin1')))
    .join('\r\n');
}

/** Encodes octets in base64 with lines of 76 characters. All lines but the last end in CRLF. */
export function encodeBase64Lines(content: Uint8Array): Buffer {
  const source = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const encoded = source.toString('base64');
  const lineCount = Math.ceil(encoded.length / BASE64_LINE_LENGTH);
  if (lineCount <= 1) return Buffer.from(encoded, 'latin1');
  const output = Buffer.allocUnsafe(encoded.length + (lineCount - 1) * 2);
  // Written to the end first, then moved line by line to the front, so that a large attachment is not copied twice.
  let from = output.length - encoded.length;
  output.write(encoded, from, 'latin1');
  let to = 0;
  for (let line = 1; line < lineCount; line += 1) {
    output.copyWithin(to, from, from + BASE64_LINE_LENGTH);
    from += BASE64_LINE_LENGTH;
    to += BASE64_LINE_LENGTH;
    output[to++] = CR;
    output[to++] = LF;
  }
  return output;
}

/** The octets of a text in UTF-8. */
function* octetLengthOf(text: string): Steps<number> {
  let length = 0;
  for (const piece of textPieces(text)) {
    if (length > 0) yield 'pause';
    length += Buffer.byteLength(piece);
  }
  return length;
}

/** The octets of a line in base64. */
const BASE64_LINE_OCTETS = (BASE64_LINE_LENGTH * 3) / 4;

/** Encodes a text in base64, as `encodeBase64Lines` does. */
function* encodeBase64(text: string): Steps<string> {
  const lines: string[] = [];
  let left: Buffer = Buffer.alloc(0);
  for (const piece of textPieces(text)) {
    const octets = Buffer.concat([left, Buffer.from(piece)]);
    const whole = octets.length - (octets.length % BASE64_LINE_OCTETS);
    if (whole > 0) lines.push(encodeBase64Lines(octets.subarray(0, whole)).toString('latin1'));
    left = octets.subarray(whole);
    yield 'pause';
  }
  if (left.length > 0) lines.push(left.toString('base64'));
  return lines.join('\r\n');
}

/**
 * Encodes a text body for servers that may support only 7 bits: as it is when it is ASCII with lines that fit, else in
 * quoted-printable or base64, whichever is shorter. Line ends become CRLF (RFC 2046 section 4.1.1). A long text is
 * encoded with pauses.
 */
export function* encodeTextBody(text: string): Steps<EncodedBody> {
  const octetLength = yield* octetLengthOf(text);
  const isAscii = octetLength === text.length;
  const lines = yield* toLineFeeds(text);
  if (isAscii && !text.includes('\0') && (yield* linesFit(lines))) {
    return { encoding: '7bit', content: yield* toNetworkLines(lines) };
  }
  // Octets beyond ASCII are at most twice what UTF-8 adds to the length; each costs two more characters in
  // quoted-printable, while base64 makes everything a third longer.
  const octetsBeyondAscii = 2 * (octetLength - text.length);
  if (octetsBeyondAscii * 6 <= octetLength) {
    return { encoding: 'quoted-printable', content: yield* encodeQuotedPrintable(lines) };
  }
  return { encoding: 'base64', content: yield* encodeBase64(yield* toNetworkLines(lines)) };
}
