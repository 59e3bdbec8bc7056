import { mapLines } from '../mail/text-pieces.ts';

/** A message ready to send: text in which each character is one octet (ASCII), or octets if it has attachments. */
export type RawMessage = string | Buffer;

const CR = 0x0d;
const LF = 0x0a;
const DOT = Buffer.from('.');
const END_OF_LINE = '\r\n';
const END = '.\r\n';

/** Converts line ends to CRLF (RFC 5321 section 2.3.8). Servers interpret a lone CR or LF in different ways. */
function withLineEnds(text: string): string {
  return text.replace(/\r\n|\r|\n/g, END_OF_LINE);
}

function textContent(raw: string): string {
  // SMTP smuggling always needs a dot after a CR or LF. A message without one can stay as it is.
  const isSafe = !raw.startsWith('.') && !raw.includes('\n.') && !raw.includes('\r.');
  const text = isSafe ? raw : mapLines(raw, (lines) => withLineEnds(lines).replace(/^\./gm, '..'));
  return text.endsWith(END_OF_LINE) || text === '' ? text + END : `${text}${END_OF_LINE}${END}`;
}

/** The content in pieces, so that a large message is not copied because of a few dots. */
function octetContent(raw: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  if (raw.includes('\r.')) return [Buffer.from(textContent(raw.toString('latin1')), 'latin1')];
  if (raw[0] === DOT[0]) pieces.push(DOT);
  for (let at = raw.indexOf('\n.'); at >= 0; at = raw.indexOf('\n.', at + 1)) {
    if (raw[at - 1] !== CR) return [Buffer.from(textContent(raw.toString('latin1')), 'latin1')];
    pieces.push(raw.subarray(from, at + 1), DOT);
    from = at + 1;
  }
  const isLineOpen = raw.length > 0 && (raw.at(-2) !== CR || raw.at(-1) !== LF);
  pieces.push(raw.subarray(from), Buffer.from(isLineOpen ? END_OF_LINE + END : END));
  return pieces;
}

/**
 * The content of a message as it is sent after DATA (RFC 5321 section 4.5.2): with a dot doubled at the start of each
 * line, and the final line with a dot.
 */
export function toDataContent(raw: string): string;
export function toDataContent(raw: RawMessage): string | Buffer[];
export function toDataContent(raw: RawMessage): string | Buffer[] {
  return typeof raw === 'string' ? textContent(raw) : octetContent(raw);
}
