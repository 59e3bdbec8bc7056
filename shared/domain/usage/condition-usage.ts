import type { CampaignStatus } from '../../pure/campaigns/campaign-status.ts';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { Em } from '../../database/em.ts';
import { readLargeRows } from '../../database/large-rows.ts';
import { sql } from '../../database/sql.ts';

export interface ConditionUsage {
  usedInSegments: { id: string; name: string }[];
  usedInCampaigns: { id: string; name: string; status: CampaignStatus }[];
}

/** The segments and campaigns of a project for whose condition `matches` is true, oldest first. */
export async function findConditionUsage(
  em: Em,
  projectId: string,
  matches: (condition: FilterCondition) => boolean,
): Promise<ConditionUsage> {
  const usedInSegments = await readLargeRows(
    em,
    sql`
      select id, name, condition from segment
      where project_id = ${projectId} and condition is not null order by created_at, id`,
    ({ condition, ...segment }: { id: string; name: string; condition: FilterCondition }) =>
      matches(condition) ? segment : undefined,
    LIMITS.listedNames,
  );
  const usedInCampaigns = await readLargeRows(
    em,
    sql`
      select id, name, status, audience_condition as condition from campaign
      where project_id = ${projectId} and audience_type = 'FILTERED' and audience_condition is not null
      order by created_at, id`,
    ({ condition, ...campaign }: { id: string; name: string; status: CampaignStatus; condition: FilterCondition }) =>
      matches(condition) ? campaign : undefined,
    LIMITS.listedNames,
  );
  return { usedInSegments, usedInCampaigns };
}
