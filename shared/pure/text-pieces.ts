const PIECE_LENGTH = 262_144;

/** Whether a UTF-16 code unit is the first half of a character. */
export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** The pieces of a long text, for work on it that pauses between them. None ends in the middle of a character. */
export function* textPieces(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = start + PIECE_LENGTH;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}
