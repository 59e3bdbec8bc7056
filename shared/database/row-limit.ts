import { tooLarge } from '../pure/app-error.ts';
import { queryCount, sql, type SqlFragment, type Em } from './sql.ts';

/** How many rows of a kind a project may have. */
export interface RowLimit {
  /** `from … where …`: the existing rows. */
  rows: SqlFragment;
  limit: number;
  /** The field of the request that an error names. */
  field: string;
  /** What the rows are, for the message: `templates in a project`. */
  what: string;
}

/**
 * Checks that one more row is within the limit. It takes no lock, so that no request waits; simultaneous requests may
 * therefore exceed the limit by their number.
 * @throws AppError VALIDATION_ERROR
 */
export async function assertBelowLimit(em: Em, { rows, limit, field, what }: RowLimit): Promise<void> {
  const count = await queryCount(em, sql`select count(*) from (select ${rows} limit ${limit}::int) existing`);
  if (count >= limit) throw tooLarge(field, `There may be at most ${limit} ${what}`);
}
