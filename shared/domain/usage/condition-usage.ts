import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { readLargeRows } from '../../database/large-rows.ts';
import { audienceType } from '../../database/constants.ts';
import { sql, type Em } from '../../database/sql.ts';
import { notNull, pick, tables, type RowOf } from '../../database/tables.ts';

const SEGMENT = pick(tables.segment, 'id', 'name');
const CAMPAIGN = pick(tables.campaign, 'id', 'name', 'status');

export interface ConditionUsage {
  usedInSegments: RowOf<typeof SEGMENT>[];
  usedInCampaigns: RowOf<typeof CAMPAIGN>[];
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
    { ...SEGMENT, condition: notNull(tables.segment.condition) },
    ({ condition, ...segment }) => (matches(condition) ? segment : undefined),
  );
  const usedInCampaigns = await readLargeRows(
    em,
    sql`
      select id, name, status, audience_condition as condition from campaign
      where project_id = ${projectId} and audience_type = ${audienceType.FILTERED} and audience_condition is not null
      order by created_at, id`,
    { ...CAMPAIGN, condition: notNull(tables.campaign.audienceCondition) },
    ({ condition, ...campaign }) => (matches(condition) ? campaign : undefined),
  );
  return { usedInSegments, usedInCampaigns };
}
