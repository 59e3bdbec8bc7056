import { describe, expect, it } from '@jest/globals';
import { createAllowances } from './allowances.ts';

function createTimed() {
  let at = 0;
  const allowances = createAllowances({ perSecond: 10, burst: 50, totalFactor: 2, now: () => at });
  const pass = (ms: number) => void (at += ms);
  return { allowances, pass };
}

describe('the units of clients', () => {
  it('can be saved up, run out, and come back with time', () => {
    const { allowances, pass } = createTimed();
    for (let turn = 0; turn < 50; turn++) expect(allowances.spend('a', 1)).toBe(true);
    expect(allowances.spend('a', 1)).toBe(false);
    pass(100);
    expect(allowances.spend('a', 1)).toBe(true);
    expect(allowances.spend('a', 0)).toBe(false);
    pass(3_600_000);
    for (let turn = 0; turn < 50; turn++) allowances.spend('a', 1);
    expect(allowances.spend('a', 0)).toBe(false);
  });

  it('can be overdrawn once, and the debt is paid off before more are spent', () => {
    const { allowances, pass } = createTimed();
    expect(allowances.spend('a', 60)).toBe(true);
    pass(900);
    expect(allowances.spend('a', 0)).toBe(false);
    pass(200);
    expect(allowances.spend('a', 0)).toBe(true);
  });

  it('are each client’s own, up to what all have together', () => {
    const { allowances } = createTimed();
    allowances.spend('a', 50);
    expect(allowances.spend('b', 0)).toBe(true);
    allowances.spend('b', 50);
    expect(allowances.spend('c', 0)).toBe(false);
    allowances.giveBack('b', 50);
    expect(allowances.spend('c', 0)).toBe(true);
  });
});
