import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../tests/support/fake-clock.ts';
import { Share, type Release, type ShareLimits } from './share.ts';

const LIMITS: ShareLimits = {
  total: 4,
  perOwner: 3,
  waiting: { total: 3, perOwner: 2 },
  waitMs: 10_000,
  refusal: (isOwn) => new Error(isOwn ? 'own' : 'others'),
};

const { pass } = useFakeClock();

/** A share, and who was given something, with the functions that give it back. */
function createTest(limits: Partial<ShareLimits> = {}) {
  const share = new Share({ ...LIMITS, ...limits });
  const given: string[] = [];
  const releases: Release[] = [];
  return {
    share,
    given,
    releases,
    /** Asks, and notes the name of the owner once it is given something, or why it is not. */
    ask: async (owner: string, amount = 1, signal?: AbortSignal): Promise<void> => {
      share.take(owner, amount, signal).then(
        (release) => {
          given.push(owner);
          releases.push(release);
        },
        (error: unknown) => given.push(`${owner} refused: ${(error as Error).message}`),
      );
      await pass();
    },
  };
}

describe('a share', () => {
  it('gives an owner no more than its bound, and another the rest', async () => {
    const { ask, given } = createTest();
    for (let n = 0; n < 4; n++) await ask('a');
    await ask('b');
    expect(given).toEqual(['a', 'a', 'a', 'b']);
  });

  it('lets owners take turns when something is given back, and those of one owner keep their order', async () => {
    const { ask, share, given, releases } = createTest({ perOwner: 4, waiting: { total: 9, perOwner: 9 } });
    for (let n = 0; n < 4; n++) await ask('a');
    for (const amount of [2, 1]) void share.take('a', amount).then(() => given.push(`a takes ${amount}`));
    await ask('b');
    releases[0]?.();
    await pass();
    releases[1]?.();
    await pass();
    expect(given.slice(4)).toEqual(['b']);
    releases[2]?.();
    releases[3]?.();
    await pass();
    expect(given.slice(5)).toEqual(['a takes 2', 'a takes 1']);
  });

  it('refuses when too many wait, of an owner or in all', async () => {
    const { ask, given } = createTest();
    for (let n = 0; n < 6; n++) await ask('a');
    expect(given.slice(3)).toEqual(['a refused: own']);
    for (let n = 0; n < 2; n++) await ask('b');
    await ask('c');
    expect(given.slice(4)).toEqual(['b', 'c refused: others']);
  });

  it('ends a wait after a while; what it waited for goes to those behind it', async () => {
    const { ask, given, releases } = createTest();
    await ask('a', 2);
    await ask('a', 2);
    await pass(5_000);
    await ask('a', 1);
    expect(given).toEqual(['a']);
    await pass(5_000);
    expect(given).toEqual(['a', 'a refused: own', 'a']);
    releases[0]?.();
    await ask('a', 2);
    await pass(60_000);
    expect(given.slice(3)).toEqual(['a']);
  });

  it('gives a wait up when its signal is aborted, and keeps no listener afterwards', async () => {
    const { ask, given, releases } = createTest({ total: 1 });
    const [abort, other] = [new AbortController(), new AbortController()];
    await ask('a');
    await ask('b', 1, abort.signal);
    await ask('c', 1, other.signal);
    abort.abort(new Error('too late'));
    await pass();
    releases[0]?.();
    await pass();
    await ask('d', 1, abort.signal);
    expect(given).toEqual(['a', 'b refused: too late', 'c', 'd refused: too late']);
    for (const { signal } of [abort, other]) expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('lets an owner above its bound take nothing more, not even an amount of 0', async () => {
    const { ask, share, given } = createTest();
    const release = share.add('a', 10);
    await ask('a', 0);
    await ask('b', 0);
    expect(given).toEqual(['b']);
    release();
    release();
    await pass();
    expect(given).toEqual(['b', 'a']);
  });

  it('keeps the bound of an owner when an earlier amount of 0 is given back', async () => {
    const { ask, given, releases } = createTest();
    for (const amount of [0, 0]) await ask('a', amount);
    releases[0]?.();
    await ask('a', 3);
    releases[1]?.();
    await ask('a', 1);
    expect(given).toEqual(['a', 'a', 'a']);
  });

  it('counts an amount above the bound as the bound, and what is given back once', async () => {
    const { ask, share, given, releases } = createTest();
    await ask('a', 1_000);
    expect([share.isFree('b', 1), share.isFree('b', 2), share.isFree('a', 1)]).toEqual([true, false, false]);
    releases[0]?.();
    releases[0]?.();
    await ask('a', 3);
    await ask('b', 2);
    expect(given).toEqual(['a', 'a']);
  });

  it('runs work in a turn of its owner, and ends the turn also when the work fails', async () => {
    const { share } = createTest({ total: 1 });
    await expect(share.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await share.run('b', () => Promise.resolve(share.isFree('b', 1)))).toBe(false);
    expect(share.isFree('b', 1)).toBe(true);
  });
});
