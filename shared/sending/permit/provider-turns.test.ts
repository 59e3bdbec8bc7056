import { describe, expect, it } from '@jest/globals';
import { createProviderTurns } from './provider-turns.ts';

describe('turns at a provider that takes fewer emails', () => {
  it('follow the speed, after the turns missed within the last two seconds', () => {
    let now = 100_000;
    const turns = createProviderTurns(40, () => now);
    const goes = (): number => {
      let count = 0;
      for (let turn = turns.take('p', 10); !turn.isHeld; turn = turns.take('p', 10)) {
        turn.done();
        count += 1;
      }
      return count;
    };
    goes();
    now += 1_000;
    expect(goes()).toBe(10);
    now += 60_000;
    expect(goes()).toBe(24);
  });

  it('are held one after the other, from two seconds to one minute', () => {
    const turns = createProviderTurns(40, () => 0);
    const waits: number[] = [];
    for (let n = 0; n < 1_000; n++) {
      const turn = turns.take('p', 1);
      if (turn.isHeld) waits.push(turn.waitMs);
    }
    expect(waits.slice(0, 3)).toEqual([2_000, 3_000, 4_000]);
    expect(waits.at(-1)).toBe(60_000);
  });

  it('occupy no more than a quarter of the places', () => {
    const turns = createProviderTurns(8, () => 0);
    const waiting = Array.from({ length: 20 }, () => turns.take('p', 100)).filter(
      (turn) => !turn.isHeld && turn.waitMs > 0,
    );
    expect(waiting).toHaveLength(2);
  });
});
