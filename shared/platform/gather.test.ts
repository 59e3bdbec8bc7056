import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../tests/support/fake-clock.ts';
import { DroppedError, Gather, gatherByOwner, type GatherOptions } from './gather.ts';

interface Item {
  name: string;
  keys?: string[];
  octets?: number;
}

interface Write {
  names: string;
  isFirst: boolean;
  succeed: () => Promise<void>;
  fail: (message: string) => Promise<void>;
}

const { pass } = useFakeClock();

/** A gather whose writes succeed or fail when the test says so. The message of a fault says what happens after it. */
function createTest(options: Partial<GatherOptions<Item, string>> = {}) {
  const writes: Write[] = [];
  const gather = new Gather<Item, string>({
    itemsMax: 10,
    octets: { max: 10, of: ({ octets }) => octets ?? 0 },
    keysOf: ({ keys }) => keys ?? [],
    afterFault: (error) => (error as Error).message as 'repeat',
    write: (items, isFirst) =>
      new Promise((resolve, reject) => {
        const names = items.map(({ name }) => name);
        writes.push({
          names: names.join(),
          isFirst,
          succeed: () => (resolve(names), pass()),
          fail: (message) => (reject(new Error(message)), pass()),
        });
      }),
    ...options,
  });
  return {
    gather,
    writes,
    names: () => writes.map(({ names }) => names),
    /** Adds items, and returns the list to which their results are added. */
    add: async (...items: (Item | string)[]): Promise<string[]> => {
      const results: string[] = [];
      for (const item of items) {
        gather.add(typeof item === 'string' ? { name: item } : item).then(
          (result) => results.push(result),
          (error: unknown) => results.push((error as Error).message),
        );
      }
      await pass();
      return results;
    },
  };
}

describe('the groups of a gather', () => {
  it('have the items that arrive together, then those that arrive meanwhile', async () => {
    const { add, writes, names } = createTest();
    const first = await add('a', 'b');
    const second = await add('c');
    await add('d');
    expect(names()).toEqual(['a,b']);
    await writes[0]?.succeed();
    expect([first, second]).toEqual([['a', 'b'], []]);
    expect(names()).toEqual(['a,b', 'c,d']);
  });

  it('keep within their bounds; a larger item is a group of its own', async () => {
    const { add, writes, names } = createTest({ itemsMax: 3 });
    await add('a', 'b', 'c', 'd', { name: 'e', octets: 6 }, { name: 'f', octets: 6 }, { name: 'g', octets: 99 });
    for (let round = 0; round < 4; round++) await writes[round]?.succeed();
    expect(names()).toEqual(['a,b,c', 'd,e', 'f', 'g']);
  });

  it('wait for others until the first item has waited for long enough, or the group is full', async () => {
    const { add, writes, names } = createTest({ waitMs: 50, itemsMax: 3 });
    await add('a');
    await pass(40);
    await add('b');
    expect(names()).toEqual([]);
    await pass(10);
    expect(names()).toEqual(['a,b']);
    await writes[0]?.succeed();
    await add('c', 'd', 'e', 'f');
    expect(names()).toEqual(['a,b', 'c,d,e']);
    await writes[1]?.succeed();
    expect(names()).toHaveLength(2);
    await pass(50);
    expect(names()).toEqual(['a,b', 'c,d,e', 'f']);
  });

  it('wait briefly for as many items as the last group had, whose callers come back together', async () => {
    const { add, writes, names } = createTest();
    await add('a', 'b');
    await writes[0]?.succeed();
    await add('c');
    expect(names()).toEqual(['a,b']);
    await add('d');
    expect(names()).toEqual(['a,b', 'c,d']);
    await writes[1]?.succeed();
    await add('e');
    await pass(2);
    expect(names()).toEqual(['a,b', 'c,d', 'e']);
    await writes[2]?.succeed();
    await add('f');
    expect(names().at(-1)).toBe('f');
  });

  it('wait longer for callers that take longer to come back', async () => {
    const { add, writes, names } = createTest({ returnMs: 8 });
    await add('a', 'b');
    await writes[0]?.succeed();
    await add('c');
    await pass(7);
    expect(names()).toEqual(['a,b']);
    await pass(1);
    expect(names()).toEqual(['a,b', 'c']);
  });

  it('do not wait at all for others when they need not', async () => {
    const { add, writes, names } = createTest({ waitMs: 0 });
    await add('a', 'b', 'c');
    expect(names()).toEqual(['a']);
    await writes[0]?.succeed();
    expect(names()).toEqual(['a', 'b,c']);
  });

  it('start beside others when they are full, or when all others are slow', async () => {
    const { add, writes, names } = createTest({ itemsMax: 2, parallel: 2 });
    await add('a');
    await add('b');
    expect(names()).toEqual(['a']);
    await add('c');
    expect(names()).toEqual(['a', 'b,c']);
    await add('d', 'e');
    await pass(1_000);
    expect(names()).toEqual(['a', 'b,c']);
    await writes[0]?.succeed();
    expect(names()).toEqual(['a', 'b,c', 'd,e']);
    await writes[1]?.succeed();
    await add('f');
    expect(names()).toHaveLength(3);
    await pass(25);
    expect(names()).toEqual(['a', 'b,c', 'd,e', 'f']);
  });

  it('never have two items with the same key, nor does one that is written beside them', async () => {
    const { add, writes, names } = createTest({ itemsMax: 2, parallel: 2 });
    await add({ name: 'a', keys: ['x'] });
    await add({ name: 'b', keys: ['x'] }, { name: 'c', keys: ['y'] }, { name: 'd', keys: ['y'] });
    expect(names()).toEqual(['a', 'c']);
    await writes[0]?.succeed();
    expect(names()).toEqual(['a', 'c', 'b']);
    await writes[1]?.succeed();
    await writes[2]?.succeed();
    expect(names()).toEqual(['a', 'c', 'b', 'd']);
  });

  it('keep the order of items that share a key', async () => {
    const { add, writes, names } = createTest();
    const [x, y] = ['x', 'y'];
    await add(
      { name: 'x1', keys: [x] },
      { name: 'xy', keys: [x, y] },
      { name: 'y1', keys: [y] },
      { name: 'z', keys: [] },
    );
    for (let round = 0; round < 3; round++) await writes[round]?.succeed();
    expect(names()).toEqual(['x1,z', 'xy', 'y1']);
  });

  it('of different owners do not wait for each other', async () => {
    const test = createTest();
    const others = createTest();
    const add = gatherByOwner<Item, string>(
      ({ name }) => name[0] ?? '',
      (owner) => (owner === 'a' ? test.gather : others.gather),
    );
    const added = ['a1', 'b1'].map((name) => add({ name }));
    await pass();
    expect([test.names(), others.names()]).toEqual([['a1'], ['b1']]);
    await Promise.all([test.writes[0]?.succeed(), others.writes[0]?.succeed()]);
    expect(await Promise.all(added)).toEqual(['a1', 'b1']);
  });
});

describe('after a fault of a group', () => {
  it('its items fail, if they may have been written', async () => {
    const { add, writes, names } = createTest();
    const results = await add('a', 'b');
    await writes[0]?.fail('fail');
    expect(results).toEqual(['fail', 'fail']);
    expect(names()).toEqual(['a,b']);
  });

  it('its items are written one by one, beside the next group, and only the bad one fails', async () => {
    const { add, writes, names } = createTest();
    const results = await add('good', 'bad');
    const next = await add('next');
    await writes[0]?.fail('split');
    expect(writes.map(({ names, isFirst }) => [names, isFirst])).toEqual([
      ['good,bad', true],
      ['good', false],
      ['bad', false],
      ['next', true],
    ]);
    await writes[2]?.fail('split');
    await writes[3]?.succeed();
    expect([results, next]).toEqual([['split'], ['next']]);
    await writes[1]?.succeed();
    expect(results).toEqual(['split', 'good']);
    expect(names()).toHaveLength(4);
  });

  it('items with the key of one that is written alone are written alone, until it has been written', async () => {
    const { add, writes, names } = createTest();
    await add({ name: 'x1', keys: ['x'] });
    await writes[0]?.fail('split');
    await add({ name: 'x2', keys: ['x'] }, { name: 'y1', keys: ['y'] });
    expect(names()).toEqual(['x1', 'x1', 'x2', 'y1']);
    for (const write of writes.slice(1)) await write.succeed();
    await add({ name: 'x3', keys: ['x'] }, 'z');
    expect(names().at(-1)).toBe('x3,z');
  });

  it('it is kept, and written again after growing pauses, before later items', async () => {
    const { add, writes, names } = createTest();
    const results = await add('a', 'b');
    await add('c');
    for (const [round, pauseMs] of [100, 200, 400, 800, 1_000, 1_000].entries()) {
      await writes[round]?.fail('repeat');
      await pass(pauseMs - 1);
      expect(writes).toHaveLength(round + 1);
      await pass(1);
      expect(writes).toHaveLength(round + 2);
    }
    expect(new Set(names())).toEqual(new Set(['a,b']));
    expect(writes.map(({ isFirst }) => isFirst)).toEqual([true, ...Array<boolean>(6).fill(false)]);
    await writes.at(-1)?.succeed();
    expect(results).toEqual(['a', 'b']);
    expect(names().at(-1)).toBe('c');
  });

  it('it is still written one by one if it is refused when the outage is over', async () => {
    const { add, writes, names } = createTest();
    const results = await add('a', 'b');
    await writes[0]?.fail('repeat');
    await pass(100);
    await writes[1]?.fail('split');
    await writes[2]?.succeed();
    await writes[3]?.fail('fail');
    expect(names()).toEqual(['a,b', 'a,b', 'a', 'b']);
    expect(results).toEqual(['a', 'fail']);
  });
});

describe('too many items', () => {
  it('are not made by those who wait until less than a group waits', async () => {
    const { gather, add, writes } = createTest({ itemsMax: 2 });
    await add('a', 'b', 'c', 'd');
    let isReady = false;
    void gather.ready().then(() => (isReady = true));
    await pass();
    expect(isReady).toBe(false);
    await writes[0]?.succeed();
    expect(isReady).toBe(true);
  });

  it('make the oldest that waits fail', async () => {
    const { gather, add, writes, names } = createTest({ waitingMax: 2 });
    await add('under way');
    const oldest = gather.add({ name: 'oldest' });
    const results = await Promise.all([expect(oldest).rejects.toThrow(DroppedError), add('b', 'c')]);
    await writes[0]?.succeed();
    await writes[1]?.succeed();
    expect(results[1]).toEqual(['b', 'c']);
    expect(names()).toEqual(['under way', 'b,c']);
  });
});

describe('at its end a gather', () => {
  it('writes all items without waiting for others, also those that are repeated or alone', async () => {
    const { gather, add, writes, names } = createTest({ waitMs: 1_000, itemsMax: 2 });
    const results = await add('a', 'b', 'c');
    let isDrained = false;
    const drained = gather.drain().then(() => (isDrained = true));
    await writes[0]?.fail('split');
    expect(names()).toEqual(['a,b', 'a', 'b', 'c']);
    await writes[3]?.fail('repeat');
    await writes[1]?.succeed();
    await pass(100);
    await writes[4]?.succeed();
    expect(isDrained).toBe(false);
    await writes[2]?.succeed();
    await drained;
    expect(results.sort()).toEqual(['a', 'b', 'c']);
  });

  it('listens to its signal only while it has items', async () => {
    const { signal } = new AbortController();
    const { add, writes } = createTest({ signal });
    for (let round = 0; round < 3; round++) {
      await add('a', 'b');
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      await writes[round]?.succeed();
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    }
  });

  it('writes nothing more once it is aborted, and all that is not written fails with the reason', async () => {
    const abort = new AbortController();
    const { gather, add, writes, names } = createTest({ itemsMax: 2, signal: abort.signal });
    const results = await add('a', 'b', 'c');
    await writes[0]?.fail('repeat');
    const drained = gather.drain();
    abort.abort(new Error('over'));
    await drained;
    await pass(60_000);
    expect(names()).toEqual(['a,b']);
    expect(results).toEqual(['over', 'over', 'over']);
    await expect(gather.add({ name: 'd' })).rejects.toThrow('over');
  });
});
