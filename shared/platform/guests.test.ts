import { describe, expect, it } from '@jest/globals';
import { createGuests, GUESTS_MAX, type GuestLimits } from './guests.ts';

function createTimed(limits: Partial<GuestLimits> = {}) {
  let at = 0;
  const guests = createGuests({ units: 50, refillMs: 5_000, together: 2, now: () => at, ...limits });
  /** How often a guest can spend a unit now. */
  const countOf = (guest: string) => {
    for (let count = 0; ; count++) if (!guests.spend(guest, 1)) return count;
  };
  return { guests, countOf, pass: (ms: number) => void (at += ms) };
}

describe('the units of guests', () => {
  it('run out, and come back with time up to their number', () => {
    const { guests, countOf, pass } = createTimed();
    expect(countOf('a')).toBe(50);
    pass(99);
    expect(guests.spend('a', 0)).toBe(false);
    pass(1);
    expect(countOf('a')).toBe(1);
    pass(3_600_000);
    expect(countOf('a')).toBe(50);
  });

  it('can be overdrawn once, and the debt is paid off before more are spent', () => {
    const { guests, pass } = createTimed();
    expect(guests.spend('a', 60)).toBe(true);
    pass(900);
    expect(guests.spend('a', 0)).toBe(false);
    pass(200);
    expect(guests.spend('a', 0)).toBe(true);
  });

  it('are each guest’s own, up to what all have together', () => {
    const { guests, countOf } = createTimed();
    expect(['a', 'b', 'c'].map(countOf)).toEqual([50, 50, 0]);
    guests.giveBack('b', 50);
    expect(countOf('c')).toBe(50);
  });

  it('come back with a proof, and are no more than before', () => {
    const { guests, countOf } = createTimed({ units: 10 });
    for (let n = 0; n < 1_000; n++) {
      expect(guests.spend('a', 2)).toBe(true);
      guests.giveBack('a', 2);
    }
    guests.giveBack('a', 100);
    expect(countOf('a')).toBe(10);
  });

  it('are remembered for a bounded number of guests, those that spend most recently', () => {
    const { countOf, guests } = createTimed({ together: GUESTS_MAX });
    expect([countOf('loud'), countOf('once')]).toEqual([50, 50]);
    for (let n = 0; n < GUESTS_MAX - 2; n++) guests.spend(`guest ${n}`, 1);
    expect(guests.spend('loud', 1)).toBe(false);
    guests.spend('one more', 1);
    expect([guests.spend('loud', 1), guests.spend('once', 1)]).toEqual([false, true]);
  });
});
