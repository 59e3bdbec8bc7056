import { createTurns } from './turns.ts';

const PIECE_LENGTH = 262_144;

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** A text of megabytes as UTF-8. Others have a turn in between, because letters beyond ASCII take long. */
export async function encodeInTurns(text: string): Promise<Buffer> {
  const turn = createTurns();
  const pieces: Buffer[] = [];
  for (let start = 0; start < text.length;) {
    let end = start + PIECE_LENGTH;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    pieces.push(Buffer.from(text.slice(start, end)));
    start = end;
    await turn();
  }
  return Buffer.concat(pieces);
}
