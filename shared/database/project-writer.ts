import { AppError } from '../pure/app-error.ts';
import { Gather, gatherByOwner } from '../platform/gather.ts';
import type { Share } from '../platform/share.ts';
import { isUndoneByServer } from './database-errors.ts';
import type { Em } from './sql.ts';

export interface ProjectWriterDeps {
  em: () => Em;
  /** The connections to PostgreSQL. Projects take turns. */
  slots: Pick<Share, 'run'>;
}

export interface ProjectWriterOptions<Item, Result> extends ProjectWriterDeps {
  /**
   * Writes items of one project in one transaction: all of them, or none.
   * @param lockMs the longest wait for a lock; that of the session when undefined
   */
  write: (em: Em, items: Item[], lockMs: number | undefined) => Promise<Result[]>;
  itemsMax: number;
  /** How many groups of a project are written at the same time when further groups are full. Default 1. */
  parallel?: number;
  /** See `GatherOptions`. */
  returnMs?: number | undefined;
  octetsOf: (item: Item) => number;
  /** What an item changes. Items that change the same are not in one group. */
  keysOf: (item: Item) => readonly string[];
}

/** The most octets of a group. */
export const OCTETS_MAX = 262_144;
/** The longest wait of a group for a lock. After it, items are written alone, so only those that need the lock wait. */
export const GROUP_LOCK_MS = 50;

/** After an error that means that nothing of a group was stored, its items may succeed alone. */
function afterFault(error: unknown): 'split' | 'fail' {
  const isUndone =
    error instanceof AppError
      ? error.statusCode < 500 && error.code !== 'RATE_LIMIT_EXCEEDED'
      : isUndoneByServer(error);
  return isUndone ? 'split' : 'fail';
}

/**
 * Writes the items that requests of a project bring at the same time in one transaction, in one turn of the project.
 * Projects do not share transactions, so none waits for the rows or the locks of another.
 */
export function createProjectWriter<Item extends { projectId: string }, Result>(
  options: ProjectWriterOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  const { em, slots, itemsMax, parallel = 1, returnMs, octetsOf, keysOf } = options;

  const write = (items: Item[], isFirst: boolean): Promise<Result[]> =>
    slots.run(items[0]?.projectId ?? '', () => options.write(em(), items, isFirst ? GROUP_LOCK_MS : undefined));
  const groups = { write, itemsMax, octets: { max: OCTETS_MAX, of: octetsOf }, parallel, returnMs, keysOf, afterFault };
  return gatherByOwner(
    ({ projectId }) => projectId,
    () => new Gather<Item, Result>(groups),
  );
}
