import { createPerKey, pause } from './turns.ts';

export interface GroupWriterOptions<Item, Result> {
  /** Writes a group, all of it or nothing. Returns one result for each item, in the order of the items. */
  write: (items: Item[]) => Promise<Result[]>;
  /**
   * The owner of an item. Groups of different owners are separate and do not wait for each other. Default: one owner.
   */
  ownerOf?: (item: Item) => string;
  /** The largest number of items in a group. */
  itemsMax: number;
  /**
   * Groups of an owner that may be under way at the same time while the next one is full: a full group gains nothing by
   * waiting. Default 1.
   */
  fullGroupsMax?: number;
  /** The largest number of octets in a group, as `octetsOf` counts them. A larger item is a group of its own. */
  octetsMax?: number;
  octetsOf?: (item: Item) => number;
  /**
   * What an item changes. Two items that change the same thing are never in one group, because one statement can change
   * it only once. They are written in the order in which they arrived.
   */
  keysOf?: (item: Item) => readonly string[];
  /** Writes one item of a group that failed. Without it, all items of such a group fail. */
  writeAlone?: (item: Item) => Promise<Result>;
  /** Whether the error means that nothing of the group was written, so its items can be written one by one. */
  isUndone?: (error: unknown) => boolean;
}

interface Waiting<Item, Result> {
  item: Item;
  octets: number;
  keys: readonly string[];
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/** Counts the items that are being written, by key. */
function createKeysUnderWay() {
  const counts = new Map<string, number>();
  return {
    has: (key: string) => counts.has(key),
    add(keys: readonly string[]) {
      for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    remove(keys: readonly string[]) {
      for (const key of keys) {
        const left = (counts.get(key) ?? 0) - 1;
        if (left > 0) counts.set(key, left);
        else counts.delete(key);
      }
    },
  };
}

/**
 * Writes items in groups. The groups of an owner are written one after another, and each contains the items that
 * arrived while the previous one was being written. So a single item does not wait, and under load many items share a
 * statement and a commit. A full group need not wait for the previous one, so it is prepared while the database works
 * on that.
 *
 * When a group fails, its items are written one by one, beside the next groups: one bad item neither fails nor delays
 * the others. While an item is written alone, items with the same keys are written alone as well.
 * @returns the function that takes an item: it resolves with the result, or rejects when the item could not be written
 */
export function createGroupWriter<Item, Result>(
  options: GroupWriterOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  const { ownerOf = () => '' } = options;
  const withWriter = createPerKey(() => createOwnerWriter(options));
  return (item) => withWriter(ownerOf(item), (add) => add(item));
}

function createOwnerWriter<Item, Result>(options: GroupWriterOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { write, itemsMax, octetsMax = Infinity, octetsOf = () => 0, keysOf = () => [], writeAlone } = options;
  const { fullGroupsMax = 1 } = options;
  const loneKeys = createKeysUnderWay();
  const groupKeys = createKeysUnderWay();
  let waiting: Waiting<Item, Result>[] = [];
  let groupCount = 0;
  let isGathering = false;

  async function writeLone({ item, keys, resolve, reject }: Waiting<Item, Result>): Promise<void> {
    if (!writeAlone) throw new TypeError('nothing writes items alone');
    loneKeys.add(keys);
    await writeAlone(item).then(resolve, reject);
    loneKeys.remove(keys);
  }

  /**
   * Takes the next group out of the queue. An item stays in the queue while one of its keys is in this group, in a
   * group under way, or in an item before it.
   */
  function takeGroup(): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const seen = new Set<string>();
    let octets = 0;
    for (const entry of waiting) {
      const fits = group.length < itemsMax && (group.length === 0 || octets + entry.octets <= octetsMax);
      if (entry.keys.some((key) => loneKeys.has(key))) void writeLone(entry);
      else if (!fits || entry.keys.some((key) => seen.has(key) || groupKeys.has(key))) left.push(entry);
      else {
        group.push(entry);
        octets += entry.octets;
      }
      for (const key of entry.keys) seen.add(key);
    }
    waiting = left;
    return group;
  }

  async function writeGroup(group: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await write(group.map(({ item }) => item));
      results.forEach((result, index) => group[index]?.resolve(result));
    } catch (error) {
      const canWriteAlone = writeAlone !== undefined && options.isUndone?.(error) === true;
      for (const entry of group) {
        if (canWriteAlone) void writeLone(entry);
        else entry.reject(error);
      }
    }
  }

  /** Starts the groups that may be written now. */
  function startGroups(): void {
    isGathering = false;
    while (groupCount === 0 || (groupCount < fullGroupsMax && waiting.length >= itemsMax)) {
      const group = takeGroup();
      if (group.length === 0) return;
      const keys = group.flatMap((entry) => entry.keys);
      groupCount += 1;
      groupKeys.add(keys);
      void writeGroup(group).then(() => {
        groupCount -= 1;
        groupKeys.remove(keys);
        startGroups();
      });
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, octets: octetsOf(item), keys: keysOf(item), resolve, reject });
      if (groupCount > 0 && waiting.length < itemsMax) return;
      if (groupCount >= fullGroupsMax || isGathering) return;
      isGathering = true;
      // Items of the same turn of the event loop go into the first group.
      void pause().then(startGroups);
    });
}
