import type { Em } from '../../database/em.ts';
import { queryOne, sql } from '../../database/sql.ts';
import { number, tables } from '../../database/tables.ts';

export interface SendPolicy {
  isDisabled: boolean;
  /** Emails a second; 0 is unlimited. */
  ratePerSecond: number;
}

/** Whether and how fast a project may send right now; undefined when the project is gone. */
export async function readSendPolicy(
  em: Em,
  projectId: string,
  defaultRatePerSecond: number,
): Promise<SendPolicy | undefined> {
  const row = await queryOne(em, sql`select disabled, emails_per_second from project where id = ${projectId}`, {
    disabled: tables.project.disabled,
    emails_per_second: tables.project.emailsPerSecond,
  });
  return row && { isDisabled: row.disabled, ratePerSecond: row.emails_per_second ?? defaultRatePerSecond };
}

/** Sending speed of a project that is reserved for a number of emails, from a moment on. */
export interface Reservation {
  count: number;
  /** Milliseconds since 1970. */
  startsAtMs: number;
}

export interface ReservationRequest {
  projectId: string;
  count: number;
  ratePerSecond: number;
  /** Goes ahead of reservations that are not urgent, so a transactional email does not wait behind a campaign. */
  isUrgent: boolean;
}

/**
 * Reserves sending speed of a project, over all workers, by moving the time at which its next email may be sent. A
 * project saves nothing up while it sends nothing, so a burst after a pause is not faster than the rate.
 */
export async function reserveSendBudget(em: Em, request: ReservationRequest): Promise<Reservation> {
  const { projectId, count, ratePerSecond, isUrgent } = request;
  const span = sql`${count / ratePerSecond}::float8 * interval '1 second'`;
  const endsAt = isUrgent ? sql`urgent_free_at` : sql`next_free_at`;
  const row = await queryOne(
    em,
    sql`
      insert into send_budget as b (project_id, next_free_at, urgent_free_at)
      values (${projectId}, clock_timestamp() + ${span}, case when ${isUrgent}::boolean then clock_timestamp() + ${span} end)
      on conflict (project_id) do update set
        next_free_at = greatest(b.next_free_at, clock_timestamp()) + ${span},
        urgent_free_at = case when ${isUrgent}::boolean
          then greatest(b.urgent_free_at, clock_timestamp()) + ${span} else b.urgent_free_at end
      returning extract(epoch from ${endsAt} - ${span} - clock_timestamp())::float8 * 1000 as wait_ms`,
    { wait_ms: number },
  );
  return { count, startsAtMs: Date.now() + Math.max(0, Math.ceil(row?.wait_ms ?? 0)) };
}

/** How many emails are sent at once: those of half a second, at least 1 and at most 50. */
export function burstSize(ratePerSecond: number): number {
  return Math.max(1, Math.min(50, Math.floor(ratePerSecond / 2)));
}
