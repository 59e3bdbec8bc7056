export interface GatherOptions<Item, Result> {
  /**
   * Writes items as one: all of them, or nothing.
   * @param isFirst false for items that were tried before: nothing waits for these, so they may take longer
   * @returns one result for each item, in their order
   */
  write: (items: Item[], isFirst: boolean) => Promise<readonly Result[]>;
  itemsMax: number;
  /** The most octets of a group. A larger item is a group of its own. */
  octets?: { max: number; of: (item: Item) => number };
  /**
   * How long an item waits for others, in milliseconds. By default, for those of the same pass of the event loop, and
   * briefly until as many wait as the last group had: callers that were answered together come back together.
   */
  waitMs?: number;
  /** The longest wait for as many items as the last group had, in milliseconds. Default 2. */
  returnMs?: number | undefined;
  /** The most items that wait. When there are more, the oldest fails with a `DroppedError`. */
  waitingMax?: number;
  /** The most groups under way. A group starts beside others when it is full, or when all of these are slow. Default 1. */
  parallel?: number;
  /** What an item changes. Items that change the same are written in their order, never in one group or side by side. */
  keysOf?: (item: Item) => readonly string[];
  /**
   * What to do after a fault. `repeat`: the group is kept, and written again after a pause. `split`: its items are written
   * one by one, so that a bad one costs only itself. `fail`, the default: its items fail.
   */
  afterFault?: (error: unknown, items: Item[]) => 'repeat' | 'split' | 'fail';
  /** Once it is aborted, nothing more is written, and items that were not written fail with its reason. */
  signal?: AbortSignal;
}

/** The error of an item that waited when too many others did. */
export class DroppedError extends Error {}

const RETURN_MS = 2;
const NONE = { size: 1, at: 0 };
/** How long the size of the last group of an owner is known. */
const FORGET_MS = 1_000;
/** A group that takes longer is slow. */
const SLOW_MS = 20;
const REPEAT_MS = { first: 100, longest: 1_000 } as const;

interface Entry<Item, Result> {
  item: Item;
  addedAt: number;
  octets: number;
  keys: readonly string[];
  /** Whether it is neither written nor failed. */
  isOpen: boolean;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/**
 * Gathers items and writes them in groups, one group after another; each has the items that arrived meanwhile. So a
 * single item hardly waits, and under load many share a statement and a commit. Items that are written one by one after
 * a fault are written beside the next groups; meanwhile further items with their keys are written alone as well.
 */
export class Gather<Item, Result = undefined> {
  readonly #options: GatherOptions<Item, Result>;
  #waitMs: number | undefined;
  #waiting: Entry<Item, Result>[] = [];
  /** The groups under way. */
  #groups: { entries: Entry<Item, Result>[]; startedAt: number }[] = [];
  /** Items that are being written alone. */
  readonly #alone = new Set<Entry<Item, Result>>();
  /**
   * The number of items that are neither written nor failed. A Set of them would keep the memory of all items until the
   * garbage collector visits the old generation, because it links each of its old tables to the next one.
   */
  #open = 0;
  /** Whether a start is scheduled: after this pass of the event loop, and when the first item has waited for long enough. */
  readonly #isScheduled = { soon: false, later: false };
  /** The last group that was written, if no other one was started since: its size, and when it was answered. */
  #answered = NONE;
  /** Resolves when a group or an item alone has ended. */
  #ended = Promise.withResolvers<undefined>();

  constructor(options: GatherOptions<Item, Result>) {
    this.#options = options;
    this.#waitMs = options.waitMs;
  }

  /** Adds an item. @returns its result @throws the error of its group, or of the item alone */
  add(item: Item): Promise<Result> {
    const { octets, keysOf, waitingMax = Infinity, signal } = this.#options;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const addedAt = performance.now();
      const size = { octets: octets?.of(item) ?? 0, keys: keysOf?.(item) ?? [] };
      const entry = { item, addedAt, ...size, isOpen: true, resolve, reject };
      // A signal may outlive many gathers, so only those with items listen to it.
      if (this.#open === 0) signal?.addEventListener('abort', this.#giveUp);
      this.#open += 1;
      this.#waiting.push(entry);
      if (this.#waiting.length > waitingMax)
        this.#fail(this.#waiting.splice(0, 1), new DroppedError('too many items wait'));
      if (this.#waitMs !== undefined) this.#start();
      else this.#schedule();
    });
  }

  /** Resolves when less than a full group waits. Await it before you make more items. */
  async ready(): Promise<void> {
    while (this.#isFull && this.#groups.length > 0) await this.#ended.promise;
  }

  /** Writes all items, and no longer lets them wait for others. Resolves when all are written or have failed. */
  async drain(): Promise<void> {
    this.#waitMs = 0;
    this.#start();
    while (this.#open > 0) await this.#ended.promise;
  }

  get #isFull(): boolean {
    return this.#waiting.length >= this.#options.itemsMax;
  }

  /** Whether the last group had several items, so that its callers may come back together. */
  get isShared(): boolean {
    return this.#answered.size > 1;
  }

  /** When a group starts that is not enough. */
  #dueAt({ addedAt }: Entry<Item, Result>): number {
    const { returnMs = RETURN_MS } = this.#options;
    return this.#waitMs === undefined ? Math.max(addedAt, this.#answered.at) + returnMs : addedAt + this.#waitMs;
  }

  /** Whether the next group may start, however short its items have waited. */
  get #isEnough(): boolean {
    return this.#isFull || (this.#waitMs === undefined && this.#waiting.length >= this.#answered.size);
  }

  /** Starts a group when enough items wait, or the first one has waited for long enough. */
  #schedule(): void {
    const [first] = this.#waiting;
    const when = this.#isEnough ? 'soon' : 'later';
    if (!first || this.#isScheduled[when]) return;
    this.#isScheduled[when] = true;
    const start = (): void => {
      this.#isScheduled[when] = false;
      this.#start();
    };
    if (when === 'soon') setImmediate(start);
    else setTimeout(start, Math.max(0, this.#dueAt(first) - performance.now())).unref();
  }

  /** Whether another group may be under way. */
  #isFree(): boolean {
    if (this.#groups.length >= (this.#options.parallel ?? 1)) return false;
    const slowSince = performance.now() - SLOW_MS;
    return this.#isFull || this.#groups.every(({ startedAt }) => startedAt <= slowSince);
  }

  /** Starts the groups that may be written now. */
  #start(): void {
    for (let [first] = this.#waiting; first && this.#isFree(); [first] = this.#waiting) {
      if (!this.#isEnough && performance.now() < this.#dueAt(first)) {
        this.#schedule();
        return;
      }
      const group = this.#takeGroup();
      if (group.length === 0) return;
      this.#answered = NONE;
      void this.#writeGroup(group);
    }
  }

  /** Takes the next group out of the queue. Items stay whose keys are in it, before them in the queue, or under way. */
  #takeGroup(): Entry<Item, Result>[] {
    const { itemsMax, octets } = this.#options;
    const alone = new Set([...this.#alone].flatMap(({ keys }) => keys));
    const taken = new Set(this.#groups.flatMap(({ entries }) => entries.flatMap(({ keys }) => keys)));
    const group: Entry<Item, Result>[] = [];
    const later: Entry<Item, Result>[] = [];
    let [next, sum] = [0, 0];
    for (; next < this.#waiting.length && group.length < itemsMax; next += 1) {
      const entry = this.#waiting[next] as Entry<Item, Result>;
      const fits = group.length === 0 || sum + entry.octets <= (octets?.max ?? Infinity);
      if (entry.keys.some((key) => alone.has(key))) void this.#writeAlone(entry);
      else if (!fits || entry.keys.some((key) => taken.has(key))) later.push(entry);
      else {
        group.push(entry);
        sum += entry.octets;
      }
      for (const key of entry.keys) taken.add(key);
    }
    this.#waiting = [...later, ...this.#waiting.slice(next)];
    return group;
  }

  async #writeGroup(entries: Entry<Item, Result>[]): Promise<void> {
    const group = { entries, startedAt: performance.now() };
    this.#groups.push(group);
    const timer = setTimeout(() => this.#start(), SLOW_MS + 1).unref();
    await this.#write(entries, true);
    clearTimeout(timer);
    this.#groups = this.#groups.filter((each) => each !== group);
    this.#start();
    this.#noteEnd();
  }

  async #writeAlone(entry: Entry<Item, Result>): Promise<void> {
    this.#alone.add(entry);
    await this.#write([entry], false);
    this.#alone.delete(entry);
    this.#noteEnd();
  }

  /** Writes a group, or an item alone, as often as its faults ask for it. */
  async #write(entries: Entry<Item, Result>[], isGroup: boolean): Promise<void> {
    const { write, afterFault, signal } = this.#options;
    const items = entries.map(({ item }) => item);
    let isFirst = isGroup;
    for (let pauseMs: number = REPEAT_MS.first; !signal?.aborted; pauseMs = Math.min(2 * pauseMs, REPEAT_MS.longest)) {
      try {
        // A caller of `add` has the promise of its item before the item is written.
        const results = await Promise.resolve().then(() => write(items, isFirst));
        if (isFirst) this.#answered = { size: entries.length, at: performance.now() };
        for (const [index, entry] of entries.entries()) this.#end(entry, () => entry.resolve(results[index] as Result));
        return;
      } catch (error) {
        const next = afterFault?.(error, items) ?? 'fail';
        if (next === 'split' && isGroup) for (const entry of entries) void this.#writeAlone(entry);
        else if (next !== 'repeat') this.#fail(entries, error);
        if (next !== 'repeat') return;
      }
      isFirst = false;
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
    }
  }

  #end(entry: Entry<Item, Result>, settle: () => void): void {
    if (!entry.isOpen) return;
    entry.isOpen = false;
    this.#open -= 1;
    settle();
    if (this.#open === 0) this.#options.signal?.removeEventListener('abort', this.#giveUp);
  }

  #fail(entries: Iterable<Entry<Item, Result>>, reason: unknown): void {
    for (const entry of entries) this.#end(entry, () => entry.reject(reason));
  }

  readonly #giveUp = (): void => {
    const open = [...this.#alone, ...this.#groups.flatMap(({ entries }) => entries), ...this.#waiting];
    this.#waiting = [];
    this.#fail(open, this.#options.signal?.reason);
    this.#noteEnd();
  };

  #noteEnd(): void {
    this.#ended.resolve(undefined);
    this.#ended = Promise.withResolvers();
  }
}

/**
 * Gathers the items of each owner separately, so that no owner waits for another.
 * @returns the function that adds an item, as `Gather.add` does
 */
export function gatherByOwner<Item, Result>(
  ownerOf: (item: Item) => string,
  create: (owner: string) => Gather<Item, Result>,
): (item: Item) => Promise<Result> {
  const gathers = new Map<string, { gather: Gather<Item, Result>; count: number }>();
  return async (item) => {
    const owner = ownerOf(item);
    const used = gathers.get(owner) ?? { gather: create(owner), count: 0 };
    gathers.set(owner, used);
    used.count += 1;
    try {
      return await used.gather.add(item);
    } finally {
      used.count -= 1;
      const forget = (): void => {
        if (used.count === 0 && gathers.get(owner) === used) gathers.delete(owner);
      };
      // The last item of a group forgets for all.
      if (used.count === 0 && used.gather.isShared) setTimeout(forget, FORGET_MS).unref();
      else forget();
    }
  };
}
