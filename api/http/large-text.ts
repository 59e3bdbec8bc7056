import { isUtf8 } from 'node:buffer';
import { badRequest, type AppError } from '../../shared/pure/app-error.ts';
import { isHighSurrogate } from '../../shared/pure/text-pieces.ts';
import type { LargeText } from './json-scanner.ts';
import type { Octets } from './octets.ts';

const PIECE_BYTES = 128 * 1024;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** The longest escape sequence is `\uXXXX`. */
const ESCAPE_BYTES_MAX = 6;
/** A character in UTF-8 has at most this many octets after its first. */
const CONTINUATION_MAX = 3;

type Pace = () => Promise<void> | undefined;

/** The error for a body that is not JSON. */
export function malformedJson(why = ''): AppError {
  return badRequest(`The request body is not valid JSON${why}`);
}

/** The end of a piece that begins at `start`: it splits neither a character nor an escape sequence. */
function pieceEnd(octets: Octets, start: number, end: number): number {
  if (start + PIECE_BYTES >= end) return end;
  const piece = octets.slice(start, start + PIECE_BYTES + 1);
  let cut = PIECE_BYTES;
  while (cut > PIECE_BYTES - CONTINUATION_MAX && ((piece[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  const backslash = piece.lastIndexOf(BACKSLASH, cut - 1);
  if (backslash < cut - ESCAPE_BYTES_MAX) return start + cut;
  let run = 1;
  while (piece[backslash - run] === BACKSLASH) run += 1;
  if (run % 2 === 0) return start + cut;
  const length = piece[backslash + 1] === LETTER_U ? ESCAPE_BYTES_MAX : 2;
  return start + (backslash + length > cut ? backslash : cut);
}

function parsePiece(piece: Buffer): string {
  if (!isUtf8(piece)) throw malformedJson(': it is not UTF-8');
  try {
    return JSON.parse(`"${piece.toString()}"`) as string;
  } catch {
    throw malformedJson();
  }
}

/** The pieces of a text of a JSON body, in their order, with a pause now and then. */
async function* piecesOf(octets: Octets, { start, end }: LargeText, pace: Pace): AsyncGenerator<string> {
  for (let position = start; position < end;) {
    const next = pieceEnd(octets, position, end);
    yield parsePiece(octets.slice(position, next));
    position = next;
    await pace();
  }
}

/**
 * Reads a text of a JSON body piece by piece.
 * @param faultOf says why a part of the text is refused; undefined when it is not
 * @throws AppError BAD_REQUEST when it is not a JSON string
 */
export async function decodeText(
  octets: Octets,
  text: LargeText,
  faultOf: (part: string) => string | undefined,
  pace: Pace,
): Promise<{ text: string; fault: string | undefined }> {
  const parts: string[] = [];
  let fault: string | undefined;
  // The first half of a surrogate pair, written as an escape sequence; the next piece has the second half.
  let half = '';
  for await (const piece of piecesOf(octets, text, pace)) {
    const part = half + piece;
    const whole = isHighSurrogate(part.charCodeAt(part.length - 1)) ? part.length - 1 : part.length;
    half = part.slice(whole);
    parts.push(part.slice(0, whole));
    fault ??= faultOf(parts.at(-1) ?? '');
  }
  fault ??= faultOf(half);
  return { text: parts.join('') + half, fault };
}

const BASE64_LETTERS = /^[A-Za-z0-9+/]*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Whether a text without line breaks is base64 (RFC 4648 section 4). */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text);
}

/**
 * Reads a text of a JSON body that is base64, piece by piece. Line breaks in it are ignored.
 * @returns undefined when it is not base64
 * @throws AppError BAD_REQUEST when it is not a JSON string
 */
export async function decodeBase64(octets: Octets, text: LargeText, pace: Pace): Promise<Buffer | undefined> {
  const decoded = Buffer.allocUnsafeSlow(Math.ceil(((text.end - text.start) * 3) / 4));
  let decodedBytes = 0;
  let left = '';
  for await (const piece of piecesOf(octets, text, pace)) {
    const letters = left + piece.replace(/[\r\n]/g, '');
    // The last four letters wait for the next piece, because padding is allowed only at the end of the text.
    const whole = Math.max(0, Math.floor((letters.length - 4) / 4) * 4);
    left = letters.slice(whole);
    const ready = letters.slice(0, whole);
    if (!BASE64_LETTERS.test(ready)) return undefined;
    decodedBytes += decoded.write(ready, decodedBytes, 'base64');
  }
  if (!isBase64(left)) return undefined;
  decodedBytes += decoded.write(left, decodedBytes, 'base64');
  return decoded.subarray(0, decodedBytes);
}
