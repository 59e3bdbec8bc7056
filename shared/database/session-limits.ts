import type { ClientBase, QueryConfig } from 'pg';

/** How long PostgreSQL lets a session work, in milliseconds. */
export interface SessionLimits {
  statementMs: number;
  /** Waiting for one lock. */
  lockMs: number;
  /** A transaction between two statements. */
  idleInTransactionMs: number;
  /** A whole transaction; PostgreSQL 17 and later. */
  transactionMs: number;
  /** Parallel workers of one query; as many as the server allows when left out. */
  parallelWorkers?: number;
  /** Whether what it commits may be lost when the server fails, so that no commit waits for the disk. */
  mayLoseCommits?: boolean;
}

/**
 * The driver waits this much longer for an answer than the server may take. So it gives up on a silent server, never on
 * one that is about to report the time-out.
 */
const ANSWER_MARGIN_MS = 3_000;
/** A statement whose client is gone ends within this time, where PostgreSQL can detect that: on Linux. */
const CLIENT_CHECK_MS = 5_000;

/** Limits of the sessions that serve requests. Work that takes longer than `statementSeconds` belongs in a job. */
export function requestLimits(statementSeconds: number): SessionLimits {
  const statementMs = statementSeconds * 1_000;
  return {
    statementMs,
    lockMs: Math.min(5_000, statementMs),
    idleInTransactionMs: statementMs,
    transactionMs: 2 * statementMs,
    // Otherwise one query of one project could use every core.
    parallelWorkers: 0,
  };
}

/** Limits of the sessions of background work. Statements that need more or less time use `limitStatements`. */
export const WORKER_LIMITS: SessionLimits = {
  statementMs: 60_000,
  lockMs: 30_000,
  idleInTransactionMs: 60_000,
  transactionMs: 15 * 60_000,
};

/** How long the driver waits for the answer to a statement that may take `statementMs`. */
export function answerTimeoutMs(statementMs: number): number {
  return statementMs + ANSWER_MARGIN_MS;
}

/**
 * Sets the limits of a new session. It uses a statement, not start-up parameters: PgBouncer refuses unknown ones, and
 * so does a server older than the parameter.
 */
export async function limitSession(client: ClientBase, limits: SessionLimits): Promise<void> {
  const statement: QueryConfig & { query_timeout: number } = {
    text: `
      select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
        set_config('idle_in_transaction_session_timeout', $3, false),
        case when current_setting('server_version_num')::int >= 170000
          then set_config('transaction_timeout', $4, false) end,
        case when version() like '%linux%' then set_config('client_connection_check_interval', $5, false) end,
        case when $6::text is not null then set_config('max_parallel_workers_per_gather', $6, false) end,
        case when $7::boolean then set_config('synchronous_commit', 'off', false) end`,
    values: [
      String(limits.statementMs),
      String(limits.lockMs),
      String(limits.idleInTransactionMs),
      String(limits.transactionMs),
      String(CLIENT_CHECK_MS),
      limits.parallelWorkers === undefined ? null : String(limits.parallelWorkers),
      limits.mayLoseCommits ?? false,
    ],
    query_timeout: ANSWER_MARGIN_MS,
  };
  await client.query(statement);
}
