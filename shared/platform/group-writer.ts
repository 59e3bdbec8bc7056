interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/**
 * Writes items in groups, one after another. Each group has all items that arrived while the previous one was being
 * written. A single item does not wait; in a rush, many share a statement and a commit.
 * @param write answers one result for each item, in their order
 * @returns takes an item; resolves with its result when it has been written, rejects when its group could not be
 */
export function createGroupWriter<Item, Result>(
  write: (items: Item[]) => Promise<Result[]>,
  groupMax: number,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let isWriting = false;

  async function run(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting.slice(0, groupMax);
      waiting = waiting.slice(groupMax);
      try {
        const results = await write(group.map(({ item }) => item));
        results.forEach((result, index) => group[index]?.resolve(result));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isWriting = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isWriting) void run();
    });
}
