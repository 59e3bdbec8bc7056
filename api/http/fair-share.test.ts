import { afterEach, describe, expect, it } from '@jest/globals';
import { createFairShare } from './fair-share.ts';

const LIMITS = { total: 4, perOwner: 3, waitingPerOwner: 2, waitingTotal: 3, waitMs: 10_000 };

/** Give back what a test has taken. Takers that still wait get it, so that no time-out keeps the process alive. */
const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** Takes one unit and notes the owner's name once it is granted. */
function createTakers(limits = LIMITS) {
  const share = createFairShare(limits);
  const given: string[] = [];
  const releases: (() => void)[] = [];
  let isOver = false;
  async function take(owner: string, amount = 1): Promise<void> {
    const release = await share.take(owner, amount);
    if (isOver) release();
    releases.push(release);
    given.push(owner);
  }
  endings.push(() => {
    isOver = true;
    for (const release of releases) release();
  });
  return {
    share,
    given,
    releases,
    take,
    /** Asks for one unit without waiting; a refusal after the end of the test is ignored. */
    ask: (owner: string, amount?: number) => void take(owner, amount).catch(() => undefined),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a fair share', () => {
  it('gives an owner no more than its bound, and another the rest', async () => {
    const { ask, given } = createTakers();
    for (let n = 0; n < 4; n++) ask('a');
    ask('b');
    await settled();
    expect(given).toEqual(['a', 'a', 'a', 'b']);
  });

  it('takes turns by owner when something is given back', async () => {
    const { ask, given, releases } = createTakers({ ...LIMITS, perOwner: 4, waitingPerOwner: 3, waitingTotal: 9 });
    for (let n = 0; n < 7; n++) ask('a');
    ask('b');
    await settled();
    expect(given).toEqual(['a', 'a', 'a', 'a']);
    releases[0]?.();
    releases[1]?.();
    await settled();
    expect(given.slice(4).sort()).toEqual(['a', 'b']);
  });

  it('refuses an owner with too many waiting requests with 429, and everybody with 503 when too many wait in all', async () => {
    const { ask, share } = createTakers();
    for (let n = 0; n < 5; n++) ask('a');
    await expect(share.take('a', 1)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', details: { retryAfter: 2 } });
    ask('b');
    ask('b');
    await settled();
    await expect(share.take('c', 1)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('ends a wait after a while, and what is given back then goes to others', async () => {
    const { ask, take, share, given, releases } = createTakers({ ...LIMITS, waitMs: 20 });
    for (let n = 0; n < 3; n++) ask('a');
    await expect(share.take('a', 1)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    releases[0]?.();
    await take('a');
    expect(given).toEqual(['a', 'a', 'a', 'a']);
  });

  it('lets an owner above its bound take nothing more, not even an amount of 0', async () => {
    const { ask, take, share, given } = createTakers();
    const release = share.add('a', 10);
    ask('a', 0);
    await take('b', 0);
    expect(given).toEqual(['b']);
    release();
    release();
    await settled();
    expect(given).toEqual(['b', 'a']);
  });

  it('keeps the bound of an owner when an earlier amount of 0 is given back', async () => {
    const { ask, share, given } = createTakers();
    const releases = [await share.take('a', 0), await share.take('a', 0)];
    releases[0]?.();
    ask('a', 3);
    await settled();
    releases[1]?.();
    ask('a', 1);
    await settled();
    expect(given).toEqual(['a']);
  });

  it('counts an amount above the bound as the bound', async () => {
    const { take, given } = createTakers();
    await take('a', 1_000);
    expect(given).toEqual(['a']);
  });
});
