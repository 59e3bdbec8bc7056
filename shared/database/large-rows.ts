import { LIMITS } from '../pure/limits.ts';
import { createYields } from '../platform/yielding.ts';
import { query, sql, SqlFragment, inTransaction, type Em } from './sql.ts';
import type { RowOf, Shape } from './shape.ts';

/** Each row may have a megabyte. */
const FETCHED_ROWS = 8;
const FETCH = new SqlFragment(`fetch ${FETCHED_ROWS} from large_rows`);

/**
 * Reads a select whose rows may be large, a few rows at a time, so that other work of the event loop runs in between.
 * All of them together may be larger than the memory of the process.
 * @param read takes what is needed from a row; undefined skips the row
 * @returns what was taken, at most `LIMITS.listedNames` of it
 */
export async function readLargeRows<S extends Shape, Taken>(
  em: Em,
  select: SqlFragment,
  shape: S,
  read: (row: RowOf<S>) => Taken | undefined,
): Promise<Taken[]> {
  return inTransaction(em, async (tx) => {
    const yieldIfDue = createYields();
    const taken: Taken[] = [];
    await query(tx, sql`declare large_rows no scroll cursor for ${select}`);
    let rows: RowOf<S>[];
    do {
      rows = await query(tx, FETCH, shape);
      for (const row of rows) {
        const part = read(row);
        if (part !== undefined) taken.push(part);
        await yieldIfDue();
      }
    } while (rows.length === FETCHED_ROWS && taken.length < LIMITS.listedNames);
    await query(tx, sql`close large_rows`);
    return taken.slice(0, LIMITS.listedNames);
  });
}
