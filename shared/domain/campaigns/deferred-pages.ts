import { deferralDelayMs } from '../../pure/delivery-retry.ts';
import type { Em } from '../orm.ts';
import { query, sql } from '../sql.ts';

export interface DeferredRound {
  /** First numbers of pages that have recipients to try again, in order. */
  firstSeqs: number[];
  /** When to; 0 for what follows the beginning of a round. */
  retryInMs: number;
  /** Where the round goes on after these pages; absent when they are the last. */
  nextSeq?: number;
}

/** Pages in one answer, which a history keeps. */
const PAGES_MAX = 200;

/**
 * The pages, from `fromSeq` on, that hold recipients whose server asked to come back, some at a time. A round begins
 * with the first page, after the pause that the recipients deferred least often have before them.
 */
export async function planDeferredRound(
  em: Em,
  campaignId: string,
  round: { pageSize: number; fromSeq: number },
  retrySeconds: readonly number[],
): Promise<DeferredRound> {
  const { pageSize, fromSeq } = round;
  const rows = await query<{ first_seq: number; deferrals: number }>(
    em,
    sql`
      select ((campaign_seq - 1) / ${pageSize}::int) * ${pageSize}::int + 1 as first_seq, min(deferrals)::int as deferrals
      from email where campaign_id = ${campaignId} and campaign_seq >= ${fromSeq} and status = 'PENDING'
      group by 1 order by 1`,
  );
  const isBeginning = fromSeq === 1 && rows.length > 0;
  const deferrals = Math.min(...rows.map((row) => row.deferrals));
  const nextSeq = rows[PAGES_MAX]?.first_seq;
  return {
    firstSeqs: rows.slice(0, PAGES_MAX).map((row) => row.first_seq),
    retryInMs: isBeginning ? (deferralDelayMs(retrySeconds, deferrals) ?? 0) : 0,
    ...(nextSeq !== undefined && { nextSeq }),
  };
}
