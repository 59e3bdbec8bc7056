import { describe, expect, it } from '@jest/globals';
import { pause } from './turns.ts';
import { createGroupWriter } from './group-writer.ts';

interface Item {
  name: string;
  keys?: string[];
  octets?: number;
}

interface Write {
  names: string[];
  succeed: () => void;
  fail: (error: Error) => void;
}

/** Lets the writer do all that it can do now. It starts groups in the next turn of the event loop. */
async function settled(): Promise<void> {
  await pause();
  await pause();
}

/** A group writer whose writes succeed or fail when the test says so. */
function createWriter(options: { itemsMax?: number; octetsMax?: number; fullGroupsMax?: number } = {}) {
  const groups: Write[] = [];
  const lone: Write[] = [];
  const begin = (list: Write[], items: Item[]) =>
    new Promise<string[]>((resolve, reject) => {
      const names = items.map(({ name }) => name);
      list.push({ names, succeed: () => resolve(names), fail: reject });
    });
  const add = createGroupWriter<Item, string>({
    ...{ itemsMax: 10, ...options },
    keysOf: ({ keys }) => keys ?? [],
    octetsOf: ({ octets }) => octets ?? 0,
    write: (items) => begin(groups, items),
    writeAlone: async (item) => (await begin(lone, [item]))[0] ?? '',
    isUndone: (error) => error instanceof Error && error.message === 'undone',
  });
  return {
    groups,
    lone,
    namesOf: (list: Write[]) => list.map(({ names }) => names.join()),
    add: async (...items: (Item | string)[]): Promise<string[]> => {
      const results: string[] = [];
      for (const item of items) {
        void add(typeof item === 'string' ? { name: item } : item).then(
          (result) => results.push(result),
          (error: unknown) => results.push(error instanceof Error ? error.message : ''),
        );
      }
      await settled();
      return results;
    },
  };
}

describe('a group writer', () => {
  it('writes a full group beside the one before, and makes a group that is not full wait', async () => {
    const { groups, namesOf, add } = createWriter({ itemsMax: 2, fullGroupsMax: 2 });
    await add('a');
    await add('b');
    expect(namesOf(groups)).toEqual(['a']);
    await add('c');
    expect(namesOf(groups)).toEqual(['a', 'b,c']);
    await add('d', 'e');
    expect(namesOf(groups)).toEqual(['a', 'b,c']);
    groups[0]?.succeed();
    await settled();
    expect(namesOf(groups)).toEqual(['a', 'b,c', 'd,e']);
  });

  it('does not write an item beside a group that has one of its keys', async () => {
    const { groups, namesOf, add } = createWriter({ itemsMax: 2, fullGroupsMax: 2 });
    await add({ name: 'a', keys: ['x'] });
    await add({ name: 'b', keys: ['x'] }, { name: 'c', keys: ['y'] }, { name: 'd', keys: ['y'] });
    expect(namesOf(groups)).toEqual(['a', 'c']);
    groups[0]?.succeed();
    await settled();
    expect(namesOf(groups)).toEqual(['a', 'c', 'b']);
    groups[1]?.succeed();
    await settled();
    expect(namesOf(groups)).toEqual(['a', 'c', 'b']);
    groups[2]?.succeed();
    await settled();
    expect(namesOf(groups)).toEqual(['a', 'c', 'b', 'd']);
  });

  it('writes items that arrive together as one group, and items that arrive meanwhile as the next', async () => {
    const { groups, namesOf, add } = createWriter();
    const first = await add('a', 'b');
    const second = await add('c');
    await add('d');
    expect(namesOf(groups)).toEqual(['a,b']);
    groups[0]?.succeed();
    await settled();
    expect([first, second]).toEqual([['a', 'b'], []]);
    expect(namesOf(groups)).toEqual(['a,b', 'c,d']);
  });

  it('keeps a group within its bounds, and writes a larger item by itself', async () => {
    const { groups, namesOf, add } = createWriter({ itemsMax: 3, octetsMax: 10 });
    await add('a', 'b', 'c', 'd', { name: 'e', octets: 6 }, { name: 'f', octets: 6 }, { name: 'g', octets: 99 });
    for (let round = 0; round < 4; round++) {
      groups[round]?.succeed();
      await settled();
    }
    expect(namesOf(groups)).toEqual(['a,b,c', 'd,e', 'f', 'g']);
  });

  it('writes items of one key in their order, each in a group of its own', async () => {
    const { groups, namesOf, add } = createWriter();
    await add(
      { name: 'x1', keys: ['x'] },
      { name: 'xy', keys: ['x', 'y'] },
      { name: 'y1', keys: ['y'] },
      { name: 'z1', keys: ['z'] },
    );
    for (let round = 0; round < 3; round++) {
      groups[round]?.succeed();
      await settled();
    }
    expect(namesOf(groups)).toEqual(['x1,z1', 'xy', 'y1']);
  });

  it('writes the items of a failed group one by one, beside the next group', async () => {
    const { groups, lone, namesOf, add } = createWriter();
    const results = await add('good', 'bad');
    const next = await add('next');
    groups[0]?.fail(new Error('undone'));
    await settled();
    expect([namesOf(groups), namesOf(lone)]).toEqual([
      ['good,bad', 'next'],
      ['good', 'bad'],
    ]);
    lone[1]?.fail(new Error('its own fault'));
    groups[1]?.succeed();
    await settled();
    expect([results, next]).toEqual([['its own fault'], ['next']]);
    lone[0]?.succeed();
    await settled();
    expect(results).toEqual(['its own fault', 'good']);
  });

  it('writes no item again when the failed group may have been written', async () => {
    const { groups, lone, add } = createWriter();
    const results = await add('a', 'b');
    groups[0]?.fail(new Error('the connection broke'));
    await settled();
    expect([results, lone]).toEqual([['the connection broke', 'the connection broke'], []]);
  });

  it('writes items with the key of a lone item alone, until the lone item has been written', async () => {
    const { groups, lone, namesOf, add } = createWriter();
    await add({ name: 'x1', keys: ['x'] });
    groups[0]?.fail(new Error('undone'));
    await settled();
    await add({ name: 'x2', keys: ['x'] }, { name: 'y1', keys: ['y'] });
    expect([namesOf(groups), namesOf(lone)]).toEqual([
      ['x1', 'y1'],
      ['x1', 'x2'],
    ]);
    groups[1]?.succeed();
    lone[0]?.succeed();
    lone[1]?.succeed();
    await settled();
    await add({ name: 'x3', keys: ['x'] });
    expect(namesOf(groups)).toEqual(['x1', 'y1', 'x3']);
  });
});
