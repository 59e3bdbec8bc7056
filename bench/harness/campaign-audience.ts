import { query, queryOne, sql } from '../../shared/database/sql.ts';
import { number, tables, type RowOf } from '../../shared/database/tables.ts';
import type { BenchStack } from './stack.ts';

const CAMPAIGN_ROW = {
  status: tables.campaign.status,
  isFrozen: tables.campaign.audienceFrozen,
  decided: number,
  sent: tables.campaign.sentCount,
};
type CampaignRow = RowOf<typeof CAMPAIGN_ROW>;

/** Creates contacts at one domain or spread over several, and lets PostgreSQL know of them. */
export async function createContacts(stack: BenchStack, count: number, domains = 1): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${stack.project.id}, 'reader' || n || '@' || case when ${domains}::int = 1 then '' else 'd' || n % ${domains}::int || '.' end || 'example.com', true,
        jsonb_build_object('firstName', 'Reader ' || n, 'city', 'City ' || n % 97, 'plan', 'plan-' || n % 3, 'points', n % 1000),
        now(), now()
      from generate_series(1, ${count}::int) n`,
  );
  await query(stack.em(), sql`vacuum analyze contact`);
}

export function readCampaign(stack: BenchStack, id: string): Promise<CampaignRow | undefined> {
  return queryOne(
    stack.em(),
    sql`
      select status, audience_frozen as "isFrozen", sent_count as sent,
        sent_count + failed_count + skipped_count + bounced_count as decided
      from campaign where id = ${id}`,
    CAMPAIGN_ROW,
  );
}
