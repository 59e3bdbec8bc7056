import type { Em } from '../orm.ts';
import { queryOne, sql } from '../sql.ts';

export interface SendPolicy {
  isDisabled: boolean;
  /** Mails a second; 0 is unlimited. */
  ratePerSecond: number;
}

/** Whether and how fast a project may send right now. */
export async function readSendPolicy(em: Em, projectId: string, defaultRatePerSecond: number): Promise<SendPolicy> {
  const row = await queryOne<{ disabled: boolean; emails_per_second: number | null }>(
    em,
    sql`select disabled, emails_per_second from project where id = ${projectId}`,
  );
  return { isDisabled: row?.disabled ?? true, ratePerSecond: row?.emails_per_second ?? defaultRatePerSecond };
}

/**
 * Reserves `count` mails of a project's sending speed, over all workers, by moving the time at which the next mail may
 * go. A project that was silent saves nothing up, so a burst after a pause is not faster than the rate.
 * @returns milliseconds to wait before sending them
 */
export async function reserveSendBudget(
  em: Em,
  projectId: string,
  count: number,
  ratePerSecond: number,
): Promise<number> {
  const row = await queryOne<{ wait_ms: number }>(
    em,
    sql`
      insert into send_budget as b (project_id, next_free_at)
      values (${projectId}, clock_timestamp() + ${count / ratePerSecond}::float8 * interval '1 second')
      on conflict (project_id) do update
        set next_free_at = greatest(b.next_free_at, clock_timestamp()) + ${count / ratePerSecond}::float8 * interval '1 second'
      returning greatest(0, extract(epoch from
        next_free_at - ${count / ratePerSecond}::float8 * interval '1 second' - clock_timestamp()) * 1000)::float8 as wait_ms`,
  );
  return Math.ceil(row?.wait_ms ?? 0);
}

/** How many mails to reserve at once: half a second's worth, so that several senders share a slow project fairly. */
export function reservationSize(ratePerSecond: number): number {
  return Math.max(1, Math.min(50, Math.floor(ratePerSecond / 2)));
}
