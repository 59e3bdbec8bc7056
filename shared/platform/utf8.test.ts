import { describe, expect, it } from '@jest/globals';
import { encodeInTurns } from './utf8.ts';

describe('encodeInTurns', () => {
  it.each(['', 'a', 'ß\u{1f600}'.repeat(400_000), `a${'\u{1f600}'.repeat(300_000)}`, 'x'.repeat(262_144)])(
    'encodes every character, wherever the pieces end',
    async (text) => {
      expect((await encodeInTurns(text)).equals(Buffer.from(text))).toBe(true);
    },
  );
});
