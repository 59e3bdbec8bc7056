import type { Steps } from '../../pure/steps.ts';
import { isHighSurrogate } from '../../pure/text-pieces.ts';

/**
 * Longer texts are converted piece by piece, with pauses. The converters split and join texts: the result of a
 * replacement is a chain of all its parts, and millions of them take seconds to walk.
 */
const PIECE_LENGTH = 131_072;

function* mapPieces(
  text: string,
  endOf: (from: number) => number,
  convert: (piece: string, isLast: boolean) => string,
): Steps<string> {
  if (text.length <= PIECE_LENGTH) return convert(text, true);
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = endOf(start + PIECE_LENGTH);
    pieces.push(convert(text.slice(start, end), end >= text.length));
    start = end;
    yield 'pause';
  }
  return pieces.join('');
}

/** Converts a text in pieces. They end after a LF, or in the middle of a line that is longer than a piece. */
export function mapLines(text: string, convert: (lines: string, isLast: boolean) => string): Steps<string> {
  const endOf = (from: number): number => {
    const lineEnd = text.slice(from, from + PIECE_LENGTH).indexOf('\n');
    if (lineEnd !== -1) return from + lineEnd + 1;
    return isHighSurrogate(text.charCodeAt(from - 1)) ? from + 1 : from;
  };
  return mapPieces(text, endOf, convert);
}

/** Converts CRLF and CR line ends to LF. */
export function* toLineFeeds(text: string): Steps<string> {
  if (!text.includes('\r')) return text;
  const endOf = (from: number) => (text[from] === '\n' ? from + 1 : from);
  return yield* mapPieces(text, endOf, (piece) => piece.split(/\r\n?/).join('\n'));
}
