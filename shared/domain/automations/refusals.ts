import { query, sql, type Em } from '../../database/sql.ts';
import { number, tables, type RowOf } from '../../database/tables.ts';

/** How many executions of an automation were refused for one reason. */
const REFUSAL_SUMMARY = {
  projectId: tables.automationRefusal.projectId,
  automationId: tables.automationRefusal.automationId,
  /** `CHAIN_TOO_LONG`: automations start one another. `TOO_OFTEN`: one contact enters again and again. */
  reason: tables.automationRefusal.reason,
  contacts: number,
  count: number,
};
export type RefusalSummary = RowOf<typeof REFUSAL_SUMMARY>;

const LISTED_MAX = 100;

/** The refusals of the last hour by automation and reason, the largest number first. */
export async function summarizeRefusals(em: Em): Promise<RefusalSummary[]> {
  return query(
    em,
    sql`
      select project_id as "projectId", automation_id as "automationId", reason, count(*) as contacts,
        sum(count) as count
      from automation_refusal where created_at > now() - interval '1 hour'
      group by 1, 2, 3 order by 5 desc, 2, 3 limit ${LISTED_MAX}`,
    REFUSAL_SUMMARY,
  );
}
