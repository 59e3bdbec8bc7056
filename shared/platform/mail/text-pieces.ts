/**
 * Longer texts are converted piece by piece: a replacement that matches millions of lines at once would exhaust the
 * memory.
 */
const PIECE_LENGTH = 262_144;

function mapPieces(text: string, endOf: (from: number) => number, convert: (piece: string) => string): string {
  if (text.length <= PIECE_LENGTH) return convert(text);
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = endOf(start + PIECE_LENGTH);
    pieces.push(convert(text.slice(start, end)));
    start = end;
  }
  return pieces.join('');
}

/** Converts a text in pieces that end after a LF. */
export function mapLines(text: string, convert: (lines: string) => string): string {
  return mapPieces(
    text,
    (from) => {
      const lineEnd = text.indexOf('\n', from);
      return lineEnd === -1 ? text.length : lineEnd + 1;
    },
    convert,
  );
}

/** Converts CRLF and CR line ends to LF. */
export function toLineFeeds(text: string): string {
  if (!text.includes('\r')) return text;
  const endOf = (from: number) => (text[from] === '\n' ? from + 1 : from);
  return mapPieces(text, endOf, (piece) => piece.replace(/\r\n?/g, '\n'));
}
