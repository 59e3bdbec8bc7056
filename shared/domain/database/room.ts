import { tooLarge } from '../../pure/app-error.ts';
import type { Em } from './em.ts';
import { queryOne, sql, type SqlFragment } from './sql.ts';

/** How many rows of a kind a project may have. */
export interface RoomFor {
  /** `from … where …`: the existing rows. */
  rows: SqlFragment;
  limit: number;
  /** The field of the request that an error names. */
  field: string;
  /** The kind of row and its place for the message: `templates in a project`. */
  what: string;
}

/**
 * Checks that there is room for one more row. Simultaneous requests may exceed the limit by their number; these limits
 * can bear that, and so no request has to wait.
 * @throws AppError VALIDATION_ERROR
 */
export async function assertRoom(em: Em, { rows, limit, field, what }: RoomFor): Promise<void> {
  const counted = await queryOne<{ count: number }>(
    em,
    sql`select count(*) from (select ${rows} limit ${limit}::int) existing`,
  );
  if ((counted?.count ?? 0) >= limit) throw tooLarge(field, `There may be at most ${limit} ${what}`);
}
