import { LIMITS } from '../../pure/limits.ts';
import type { Em } from './em.ts';
import { queryOne, sql } from './sql.ts';

/** For page lists whose records may have megabytes. The length of a text is known without reading it. */
const LARGEST = {
  template: sql`select max(octet_length(body) + coalesce(octet_length(body_text), 0)) as bytes from template where project_id = `,
  campaign: sql`select max(octet_length(body) + coalesce(octet_length(body_text), 0)) as bytes from campaign where project_id = `,
};

/**
 * The largest page, up to `wanted` records, that stays within `LIMITS.pageBytes` whichever records it has. It is the
 * same for all pages of a list, so that reading them by number misses nothing.
 */
export async function fittingPageSize(
  em: Em,
  table: keyof typeof LARGEST,
  projectId: string,
  wanted: number,
): Promise<number> {
  const row = await queryOne<{ bytes: number | null }>(em, sql`${LARGEST[table]}${projectId}`);
  return Math.max(1, Math.min(wanted, Math.floor(LIMITS.pageBytes / Math.max(1, row?.bytes ?? 1))));
}
