import { describe, expect, it } from '@jest/globals';
import { textPieces } from './text-pieces.ts';

describe('textPieces', () => {
  it.each(['', 'a', 'ß\u{1f600}'.repeat(400_000), `a${'\u{1f600}'.repeat(300_000)}`, 'x'.repeat(262_144)])(
    'splits no character, and loses none',
    (text) => {
      const pieces = [...textPieces(text)];
      expect(pieces.join('') === text).toBe(true);
      expect(pieces.every((piece) => piece !== '' && piece.isWellFormed())).toBe(true);
    },
  );
});
