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

/**
 * Emails of an attempt that wait for a moment while others go, so that they keep no lane from these. One that must wait
 * again has its place in the line again, because the first ones may be the most engaged recipients.
 */
export class Postponed<Item extends { email: object }> {
  readonly #lines = new Map<string, Line<Item>>();
  /** In which order emails first had to wait. */
  readonly #places = new WeakMap<object, number>();
  #placed = 0;
  /** Lanes that wait for an item, each with the function that ends its wait. */
  readonly #waiting = new Set<() => void>();
  #size = 0;

  /** @param signal ends all waits when it is aborted */
  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.wake());
  }

  get size(): number {
    return this.#size;
  }

  /** How many items wait in a line. */
  sizeOf(key: string): number {
    return this.#lines.get(key)?.items.length ?? 0;
  }

  /** How many lanes wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Milliseconds until the first line is due; Infinity without one. */
  get waitMs(): number {
    const dueMs = Math.min(...[...this.#lines.values()].map((line) => line.dueMs));
    return Math.max(0, dueMs - performance.now());
  }

  add({ key, waitMs }: Later, item: Item): void {
    const line = this.#lines.get(key) ?? { dueMs: 0, items: [] };
    line.dueMs = performance.now() + waitMs;
    const place = this.#placeOf(item);
    const last = line.items.at(-1);
    // A new one is the last, and one that must wait again was among the first.
    const isLast = !last || this.#placeOf(last) < place;
    const at = isLast ? line.items.length : line.items.findIndex((each) => this.#placeOf(each) > place);
    line.items.splice(at, 0, item);
    this.#lines.set(key, line);
    this.#size += 1;
  }

  #placeOf({ email }: Item): number {
    const place = this.#places.get(email) ?? (this.#placed += 1);
    this.#places.set(email, place);
    return place;
  }

  /** Makes a line due, because there is room again. */
  free(key: string): void {
    const line = this.#lines.get(key);
    if (!line) return;
    line.dueMs = 0;
    this.#wakeOne();
  }

  /** Resolves when an item may be due, after `longestMs`, or when the signal is aborted. */
  wait(longestMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, Math.min(longestMs, this.waitMs)));
      this.#waiting.add(wake);
    });
  }

  /** Takes the first item of a line that is due. */
  takeDue(): Item | undefined {
    if (this.#size === 0) return undefined;
    const found = [...this.#lines].find(([, { dueMs }]) => dueMs <= performance.now());
    if (!found) return undefined;
    // There may be room for more than one.
    this.#wakeOne();
    return this.#takeFrom(...found);
  }

  #wakeOne(): void {
    const [first] = this.#waiting;
    first?.();
  }

  /** Takes all items, and ends all waits. */
  takeAll(): Item[] {
    const items = [...this.#lines.values()].flatMap((line) => line.items);
    this.#lines.clear();
    this.#size = 0;
    this.wake();
    return items;
  }

  /** Ends all waits. */
  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  #takeFrom(key: string, line: Line<Item>): Item | undefined {
    this.#size -= 1;
    const item = line.items.shift();
    if (line.items.length === 0) this.#lines.delete(key);
    return item;
  }
}
