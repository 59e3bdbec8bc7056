import { AppError } from '../pure/app-error.ts';
import { createGroupWriter } from '../platform/group-writer.ts';
import { isUndoneByServer } from './database-errors.ts';
import type { Em } from './em.ts';

export interface ProjectWriterDeps {
  em: () => Em;
  /** Waits until a project may use PostgreSQL. @returns a function that ends the turn */
  takeTurn: (projectId: string) => Promise<() => void>;
}

export interface ProjectWriterOptions<Item, Result> extends ProjectWriterDeps {
  /**
   * Writes items of one project in one transaction: all of them, or none.
   * @param lockMs the longest wait for a lock; that of the session when undefined
   */
  write: (em: Em, items: Item[], lockMs: number | undefined) => Promise<Result[]>;
  itemsMax: number;
  /** How many groups of a project are written at the same time when further groups are full. Default 1. */
  fullGroupsMax?: number;
  octetsOf: (item: Item) => number;
  /** What an item changes. Items that change the same are not in one group. */
  keysOf: (item: Item) => readonly string[];
}

const OCTETS_MAX = 262_144;
/** The longest wait of a group for a lock. After it, items are written alone, so only those that need the lock wait. */
export const GROUP_LOCK_MS = 50;

/** Whether nothing of a group was stored and its items may succeed alone. */
function isUndone(error: unknown): boolean {
  if (error instanceof AppError) return error.statusCode < 500 && error.code !== 'RATE_LIMIT_EXCEEDED';
  return isUndoneByServer(error);
}

/**
 * Writes the items that requests of a project bring at the same time in one transaction, in one turn of the project.
 * Projects do not share transactions, so none waits for the rows or the locks of another.
 */
export function createProjectWriter<Item extends { projectId: string }, Result>(
  options: ProjectWriterOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  const { em, takeTurn, itemsMax, fullGroupsMax, octetsOf, keysOf } = options;

  async function write(items: Item[], lockMs?: number): Promise<Result[]> {
    const endTurn = await takeTurn(items[0]?.projectId ?? '');
    try {
      return await options.write(em(), items, lockMs);
    } finally {
      endTurn();
    }
  }

  return createGroupWriter<Item, Result>({
    ...(fullGroupsMax !== undefined && { fullGroupsMax }),
    itemsMax,
    octetsMax: OCTETS_MAX,
    octetsOf,
    keysOf,
    isUndone,
    ownerOf: ({ projectId }) => projectId,
    write: (items) => write(items, GROUP_LOCK_MS),
    async writeAlone(item) {
      const [result] = await write([item]);
      return result as Result;
    },
  });
}
