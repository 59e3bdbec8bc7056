import { createTurns } from './turns.ts';

const PIECE_LENGTH = 262_144;

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Encodes a text of megabytes as UTF-8, piece by piece, so that other work of the event loop runs in between. */
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
