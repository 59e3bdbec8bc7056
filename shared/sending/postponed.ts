/** Why an email may not go at this moment, although it soon may. */
export interface Later {
  /** What it waits for. Emails with the same key wait in one line. */
  key: string;
  waitMs: number;
}

interface Line<Item> {
  dueMs: number;
  items: Item[];
}

/** Emails of an attempt that wait for a moment while others go, so that they keep no lane from these. */
export class Postponed<Item> {
  readonly #lines = new Map<string, Line<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Milliseconds until the first line is due; Infinity without one. */
  get waitMs(): number {
    const dueMs = Math.min(...[...this.#lines.values()].map((line) => line.dueMs));
    return Math.max(0, dueMs - performance.now());
  }

  add({ key, waitMs }: Later, item: Item): void {
    const line = this.#lines.get(key) ?? { dueMs: 0, items: [] };
    line.dueMs = performance.now() + waitMs;
    line.items.push(item);
    this.#lines.set(key, line);
    this.#size += 1;
  }

  /** Makes lines due, because there is room again. */
  free(keys: readonly string[]): void {
    for (const key of keys) {
      const line = this.#lines.get(key);
      if (line) line.dueMs = 0;
    }
  }

  /** Takes the first item of a line that is due. */
  takeDue(): Item | undefined {
    const found = [...this.#lines].find(([, { dueMs }]) => dueMs <= performance.now());
    return found && this.#takeFrom(...found);
  }

  /** Takes any item. */
  take(): Item | undefined {
    const [first] = this.#lines;
    return first && this.#takeFrom(...first);
  }

  #takeFrom(key: string, line: Line<Item>): Item | undefined {
    this.#size -= 1;
    const item = line.items.shift();
    if (line.items.length === 0) this.#lines.delete(key);
    return item;
  }
}
