/** The fewest characters of a boundary that does not stand in the text by chance. */
const BOUNDARY = /^"?([^"\s;]{8,70})/;
const BOUNDARY_NAME = 'boundary=';
/** Beyond these numbers, boundaries are compared like any other text. */
const NAMES_MAX = 100;
const BOUNDARIES_MAX = 5;
const PIECES_MAX = 10_000;

/** The boundaries that headers of the message and of its parts declare, the longest first. */
function boundariesOf(content: Buffer): string[] {
  const found = new Set<string>();
  let at = content.indexOf(BOUNDARY_NAME);
  for (let count = 0; at !== -1 && count < NAMES_MAX && found.size < BOUNDARIES_MAX; count++) {
    const start = at + BOUNDARY_NAME.length;
    const boundary = BOUNDARY.exec(content.toString('latin1', start, start + 80))?.[1];
    if (boundary !== undefined) found.add(boundary);
    at = content.indexOf(BOUNDARY_NAME, start);
  }
  return [...found].sort((a, b) => b.length - a.length);
}

function splitAt(content: Buffer, boundary: string): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  while (pieces.length < PIECES_MAX) {
    const at = content.indexOf(boundary, from, 'latin1');
    if (at === -1) break;
    pieces.push(content.subarray(from, at));
    from = at + boundary.length;
  }
  return [...pieces, content.subarray(from)];
}

/**
 * The pieces of a message that are the same when a program composes it again. Its date and the boundaries of its parts
 * (RFC 2046 section 5.1.1) are new then, and left out.
 * @param content with CRLF line ends
 */
export function lastingPiecesOf(content: Buffer): Buffer[] {
  const headerEnd = content.indexOf('\r\n\r\n');
  const bodyStart = headerEnd === -1 ? content.length : headerEnd + 2;
  const header = content.toString('latin1', 0, bodyStart).replace(/^date:.*\r\n(?:[ \t].*\r\n)*/im, '');
  return boundariesOf(content).reduce(
    (pieces, boundary) => (pieces.length > PIECES_MAX ? pieces : pieces.flatMap((piece) => splitAt(piece, boundary))),
    [Buffer.from(header, 'latin1'), content.subarray(bodyStart)],
  );
}
