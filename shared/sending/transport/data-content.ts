/** A message ready to send: text in which each character is one octet (ASCII), or octets if it has attachments. */
export type RawMessage = string | Buffer;

const LF = 0x0a;
const DOT = 0x2e;
const END_OF_LINE = '\r\n';
const END = '.\r\n';

/** Doubles dots, and converts line ends to CRLF (RFC 5321 section 2.3.8): servers interpret a lone CR or LF differently. */
function withDots(text: string): string {
  const lines = text.split(/\r\n|\r|\n/);
  return lines.map((line) => (line.startsWith('.') ? `.${line}` : line)).join(END_OF_LINE);
}

/** Whether a message can stay as it is: SMTP smuggling always needs a dot after a CR or LF. */
function isSafe(raw: RawMessage): boolean {
  const firstOctet = typeof raw === 'string' ? raw.charCodeAt(0) : raw[0];
  return firstOctet !== DOT && !raw.includes('\n.') && !raw.includes('\r.');
}

/**
 * The content of a message as it is sent after DATA (RFC 5321 section 4.5.2): with a dot doubled at the start of each
 * line, and the final line with a dot.
 */
export function toDataContent(raw: string): string {
  const text = isSafe(raw) ? raw : withDots(raw);
  return text.endsWith(END_OF_LINE) || text === '' ? text + END : text + END_OF_LINE + END;
}

/** The end of the line that goes on at `from`. */
function lineEnd(raw: RawMessage, from: number): number {
  const at = typeof raw === 'string' ? raw.indexOf('\n', from) : raw.indexOf(LF, from);
  return at === -1 ? raw.length : at + 1;
}

function endsInCrlf(part: RawMessage): boolean {
  return part.length >= END_OF_LINE.length && part.indexOf(END_OF_LINE, part.length - END_OF_LINE.length) !== -1;
}

/**
 * Does the same as `toDataContent`, in parts of whole lines with about `partOctets` octets. Octets that need no change
 * are not copied.
 */
export function* toDataParts(raw: RawMessage, partOctets: number): Generator<Buffer> {
  let endsLine = true;
  for (let start = 0; start < raw.length;) {
    const end = lineEnd(raw, start + partOctets - 1);
    const given = typeof raw === 'string' ? raw.slice(start, end) : raw.subarray(start, end);
    // A part that ends in a lone LF is not safe, because the next one may begin with a dot.
    const canStay = isSafe(given) && (end === raw.length || endsInCrlf(given));
    const part = canStay ? given : withDots(given.toString('latin1'));
    yield typeof part === 'string' ? Buffer.from(part, 'latin1') : part;
    endsLine = endsInCrlf(part);
    start = end;
  }
  yield Buffer.from(endsLine ? END : END_OF_LINE + END);
}
