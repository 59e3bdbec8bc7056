import { nextRoundMs } from '../../pure/emails/delivery-retry.ts';
import { REMAINING_MS } from '../emails/delivery-results.ts';
import { emailStatus } from '../../database/constants.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { number } from '../../database/tables.ts';

export interface DeferredRound {
  /** The first recipient number of each page that is tried again, in order. */
  firstSeqs: number[];
  /** How long to wait before these pages are tried; 0 for the rest of a round. */
  retryInMs: number;
  /** The first recipient number of the rest of the round; missing when these pages are the last. */
  nextSeq?: number;
}

/** Pages of one result. The history of the workflow keeps the result, so it must be small. */
const PAGES_MAX = 200;

/**
 * Plans the pages with deferred recipients. The pages from `fromSeq` on that are due are the rest of a round. If there
 * are none, the result is the next round: the pages that are due when it begins, and the time until then.
 */
export async function planDeferredRound(
  em: Em,
  campaignId: string,
  { pageSize, fromSeq }: { pageSize: number; fromSeq: number },
): Promise<DeferredRound> {
  const pages = await query(
    em,
    sql`
      select ((campaign_seq - 1) / ${pageSize}::int) * ${pageSize}::int + 1 as "firstSeq",
        min(${REMAINING_MS}) as "waitMs"
      from email e where campaign_id = ${campaignId} and status = ${emailStatus.PENDING} group by 1 order by 1`,
    { firstSeq: number, waitMs: number },
  );
  const left = fromSeq === 1 ? [] : pages.filter((page) => page.firstSeq >= fromSeq && page.waitMs === 0);
  const retryInMs = left.length > 0 ? 0 : nextRoundMs(pages.map((page) => page.waitMs));
  const due = left.length > 0 ? left : pages.filter((page) => page.waitMs <= retryInMs);
  const nextSeq = due[PAGES_MAX]?.firstSeq;
  return {
    firstSeqs: due.slice(0, PAGES_MAX).map((page) => page.firstSeq),
    retryInMs,
    ...(nextSeq !== undefined && { nextSeq }),
  };
}
