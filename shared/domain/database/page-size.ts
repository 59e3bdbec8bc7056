import { LIMITS } from '../../pure/limits.ts';
import type { Em } from './em.ts';
import { queryOne, sql } from './sql.ts';

/** The size of a record's bodies. PostgreSQL knows the length of a text without reading the text. */
const BYTES = sql`octet_length(body) + coalesce(octet_length(body_text), 0)`;
const LARGEST_RECORD = {
  template: sql`select max(${BYTES}) as bytes from template where project_id = `,
  campaign: sql`select max(${BYTES}) as bytes from campaign where project_id = `,
};

/**
 * For lists of records that may have megabytes: the largest page size, up to `wanted` records, at which every page
 * stays within `LIMITS.pageBytes`. All pages of a list have this size, so reading them by number misses no record.
 */
export async function fittingPageSize(
  em: Em,
  table: keyof typeof LARGEST_RECORD,
  projectId: string,
  wanted: number,
): Promise<number> {
  const row = await queryOne<{ bytes: number | null }>(em, sql`${LARGEST_RECORD[table]}${projectId}`);
  return Math.max(1, Math.min(wanted, Math.floor(LIMITS.pageBytes / Math.max(1, row?.bytes ?? 1))));
}
