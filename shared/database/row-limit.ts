import { tooLarge } from '../pure/app-error.ts';
import { LIMITS } from '../pure/limits.ts';
import { queryCount, sql, SqlFragment, type Em } from './sql.ts';

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

/** How many rows of a table a project may have, the field that an error names, and what the rows are. */
const OF_PROJECT = {
  api_key: { limit: LIMITS.keysPerProject, field: 'name', what: 'keys in a project' },
  automation: { limit: LIMITS.automationsPerProject, field: 'name', what: 'workflows in a project' },
  campaign: { limit: LIMITS.campaignsPerProject, field: 'name', what: 'campaigns in a project' },
  template: { limit: LIMITS.templatesPerProject, field: 'name', what: 'templates in a project' },
  topic: { limit: LIMITS.topicsPerProject, field: 'key', what: 'topics in a project' },
  webhook_endpoint: { limit: LIMITS.webhooksPerProject, field: 'url', what: 'webhook endpoints in a project' },
};

/** As `assertBelowLimit`, for all rows of a project in one table. @throws AppError VALIDATION_ERROR */
export async function assertRoom(em: Em, projectId: string, table: keyof typeof OF_PROJECT): Promise<void> {
  const rows = sql`from ${new SqlFragment(table)} where project_id = ${projectId}`;
  return assertBelowLimit(em, { rows, ...OF_PROJECT[table] });
}
