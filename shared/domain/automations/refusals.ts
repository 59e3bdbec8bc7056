import type { Em } from '../../database/em.ts';
import { query, sql } from '../../database/sql.ts';

/** How many executions of an automation were refused for one reason. */
export interface RefusalSummary {
  projectId: string;
  automationId: string;
  /** `CHAIN_TOO_LONG`: automations start one another. `TOO_OFTEN`: one contact enters again and again. */
  reason: 'CHAIN_TOO_LONG' | 'TOO_OFTEN';
  contacts: number;
  count: number;
}

const LISTED_MAX = 100;

/** The refusals of the last hour by automation and reason, the largest number first. */
export async function summarizeRefusals(em: Em): Promise<RefusalSummary[]> {
  return query<RefusalSummary>(
    em,
    sql`
      select project_id as "projectId", automation_id as "automationId", reason, count(*) as contacts,
        sum(count) as count
      from automation_refusal where created_at > now() - interval '1 hour'
      group by 1, 2, 3 order by 5 desc, 2, 3 limit ${LISTED_MAX}`,
  );
}
