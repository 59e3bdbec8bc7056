import type { Em } from '../domain/database/em.ts';
import { queryOne, sql } from '../domain/database/sql.ts';

/** Temporal takes 200 bytes of summary; a character is at most 4. */
const NAME_LENGTH_MAX = 40;

/** The line operators see beside a campaign in the Temporal UI: "project · campaign". */
export async function findCampaignSummary(em: Em, campaignId: string): Promise<string> {
  const row = await queryOne<{ project: string; campaign: string }>(
    em,
    sql`
      select left(p.name, ${NAME_LENGTH_MAX}::int) as project, left(c.name, ${NAME_LENGTH_MAX}::int) as campaign
      from campaign c join project p on p.id = c.project_id where c.id = ${campaignId}`,
  );
  return row ? `${row.project} · ${row.campaign}` : 'a deleted campaign';
}
