import { describe, expect, it } from '@jest/globals';
import { createOctetBudget } from './octet-budget.ts';

const LONG_MS = 60_000;

describe('an octet budget', () => {
  it('grants free octets at once, and others in the order of the calls', async () => {
    const budget = createOctetBudget(10);
    const first = await budget.take(6, LONG_MS);
    const granted: string[] = [];
    const large = budget.take(8, LONG_MS).then((release) => (granted.push('large'), release));
    const small = budget.take(1, LONG_MS).then((release) => (granted.push('small'), release));
    expect(await budget.take(1, 1)).toBeUndefined();
    expect(granted).toEqual([]);
    first?.();
    await Promise.all([large, small]);
    expect(granted).toEqual(['large', 'small']);
  });

  it('lets others pass a call that no longer waits', async () => {
    const budget = createOctetBudget(10);
    await budget.take(6, LONG_MS);
    const [large, small] = await Promise.all([budget.take(8, 1), budget.take(4, LONG_MS)]);
    expect(large).toBeUndefined();
    expect(small).toBeDefined();
  });

  it('grants the whole budget to a call for more, and counts a release once', async () => {
    const budget = createOctetBudget(10);
    const release = await budget.take(1_000, LONG_MS);
    expect(await budget.take(1, 1)).toBeUndefined();
    release?.();
    release?.();
    await budget.take(10, LONG_MS);
    expect(await budget.take(1, 1)).toBeUndefined();
  });
});
