import { sandboxDomains } from '../../pure/emails/sandbox.ts';
import type { Em } from '../database/em.ts';
import { queryOne, sql } from '../database/sql.ts';
import { FIRST_CLICK, FIRST_OPEN, HARD_BOUNCE } from './first-of-email.ts';

/** The outcomes of emails to the sandbox. The rates of a project leave them out. */
export interface SandboxCounts {
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  /** Hard bounces. */
  bounced: number;
  complaints: number;
}

/** Counts emails to the sandbox, either in a period, the end excluded, or of a campaign. */
export async function countSandbox(
  em: Em,
  projectId: string,
  inboundDomain: string | undefined,
  within: { from: Date; until: Date } | { campaignId: string },
): Promise<SandboxCounts> {
  const patterns = sandboxDomains(inboundDomain).map((domain) => `%@${domain}`);
  const isWithin =
    'campaignId' in within
      ? sql`data ->> 'campaignId' = ${within.campaignId}`
      : sql`created_at >= ${within.from} and created_at < ${within.until}`;
  const row = await queryOne<SandboxCounts>(
    em,
    // The first condition on the address is the predicate of the index `event_of_sandbox`.
    sql`
      select count(*) filter (where name = 'email.sent') as sent,
        count(*) filter (where name = 'email.delivery') as delivered,
        count(*) filter (where ${FIRST_OPEN}) as opened,
        count(*) filter (where ${FIRST_CLICK}) as clicked,
        count(*) filter (where ${HARD_BOUNCE}) as bounced,
        count(*) filter (where name = 'email.complaint') as complaints
      from event
      where project_id = ${projectId} and (data ->> 'to') like '%@sandbox.%'
        and (data ->> 'to') like any(${patterns}::text[]) and ${isWithin}`,
  );
  return row ?? { sent: 0, delivered: 0, opened: 0, clicked: 0, bounced: 0, complaints: 0 };
}
