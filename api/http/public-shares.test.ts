import { describe, expect, it } from '@jest/globals';
import { createPublicShares } from './public-shares.ts';

/** 80 of 100 requests a minute are for the public key. */
function createTimed() {
  let at = 0;
  const shares = createPublicShares(100, () => at);
  shares.learn('pk', { publicUsed: 0, resetSeconds: 60 });
  const countOf = (client: string) => {
    for (let count = 0; ; count++) if (shares.take('pk', client) !== true) return count;
  };
  return { shares, countOf, pass: (ms: number) => void (at += ms) };
}

describe('the share of a client', () => {
  it('is as much as it leaves to the others', () => {
    const { countOf } = createTimed();
    const counts = ['a', 'b', 'c', 'd', 'e', 'a'].map(countOf);
    expect(counts).toEqual([40, 20, 10, 5, 3, 0]);
  });

  it('counts what other processes have let pass, and begins again with the minute', () => {
    const { shares, countOf, pass } = createTimed();
    shares.learn('pk', { publicUsed: 60, resetSeconds: 60 });
    expect(countOf('a')).toBe(10);
    pass(30_000);
    expect(shares.take('pk', 'a')).toEqual({ resetSeconds: 30 });
    pass(30_000);
    expect(shares.take('pk', 'a')).toBe(true);
    shares.learn('pk', { publicUsed: 1, resetSeconds: 60 });
    expect(countOf('a')).toBe(39);
  });
});
