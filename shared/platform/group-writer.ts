import { createPerKey, pause } from './turns.ts';

export interface GroupWriterOptions<Item, Result> {
  /** Writes a group, all of it or nothing. Answers one result for each item, in their order. */
  write: (items: Item[]) => Promise<Result[]>;
  /** The owner of an item. Owners share no groups and do not wait for each other. */
  ownerOf?: (item: Item) => string;
  /** Most items of a group. */
  itemsMax: number;
  /** Groups of an owner that may be under way when the next one is full already: waiting would not make it larger. Default 1. */
  fullGroupsMax?: number;
  /** Most octets of a group, as `octetsOf` counts them. A larger item is a group of its own. */
  octetsMax?: number;
  octetsOf?: (item: Item) => number;
  /**
   * What an item changes. Items that change the same are never in one group, because a statement would change it once, and
   * are written in the order in which they came.
   */
  keysOf?: (item: Item) => readonly string[];
  /** Writes an item that spoils its group, or that may have. Without it, all items of the group fail. */
  writeAlone?: (item: Item) => Promise<Result>;
  /** Whether a group that failed so left nothing behind and can be taken apart. */
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
 * Writes items in groups, those of an owner one after another. Each group has the items that arrived while the previous one
 * was being written. A single item does not wait; in a rush, many share a statement and a commit. A group that is full need
 * not wait, so that the next one is made ready while the database works on this one.
 *
 * A group that fails is taken apart, and its items are written alone, beside the next groups: one bad item neither fails nor
 * delays the others. While an item is written alone, items with its keys are written alone, too.
 * @returns takes an item; resolves with its result when it has been written, rejects when it could not be
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

  async function goAlone({ item, keys, resolve, reject }: Waiting<Item, Result>): Promise<void> {
    if (!writeAlone) throw new TypeError('nothing writes items alone');
    loneKeys.add(keys);
    await writeAlone(item).then(resolve, reject);
    loneKeys.remove(keys);
  }

  /** Takes the next group out of the queue. An item waits if its keys are in this group or one under way, or wait before it. */
  function takeGroup(): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const seen = new Set<string>();
    let octets = 0;
    for (const entry of waiting) {
      const hasRoom = group.length < itemsMax && (group.length === 0 || octets + entry.octets <= octetsMax);
      if (entry.keys.some((key) => loneKeys.has(key))) void goAlone(entry);
      else if (!hasRoom || entry.keys.some((key) => seen.has(key) || groupKeys.has(key))) left.push(entry);
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
      const isTakenApart = writeAlone !== undefined && options.isUndone?.(error) === true;
      for (const entry of group) {
        if (isTakenApart) void goAlone(entry);
        else entry.reject(error);
      }
    }
  }

  /** Begins the groups whose turn it is. */
  function begin(): void {
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
        begin();
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
      void pause().then(begin);
    });
}
