import { setTimeout as delay } from 'node:timers/promises';
import { cleanUpChunk, type CleanUpReport } from '../../shared/domain/lifecycle/maintenance.ts';
import type { Retention } from '../../shared/domain/lifecycle/retention.ts';
import { query, sql } from '../../shared/database/sql.ts';
import { number, text, type RowOf } from '../../shared/database/tables.ts';
import { quantile, round, type BenchContext } from '../harness/contract.ts';
import type { BenchStack } from '../harness/stack.ts';
import { CHUNK, createChunk, type HistorySize } from './fill.ts';

/** Share of the time that is dropped: the oldest third. */
const DROPPED = 1 / 3;
/** PostgreSQL reads a smaller table as fast from end to end as by an index. */
const LARGE_ROWS = 10_000;
const KINDS = ['emailContents', 'emails', 'events', 'executions'] as const satisfies (keyof CleanUpReport)[];
/** PostgreSQL publishes its statistics with a delay. */
const STATISTICS_MS = 2_500;

const TABLE_STATE = { rows: number, dead: number, megabytes: number, scans: number, vacuums: number };
type TableState = RowOf<typeof TABLE_STATE>;

async function readTables(stack: BenchStack): Promise<Record<string, TableState>> {
  await delay(STATISTICS_MS);
  const rows = await query(
    stack.em(),
    sql`
      select relname as name, n_live_tup as rows, n_dead_tup as dead, pg_total_relation_size(relid) / 1048576.0::float8 as megabytes,
        seq_scan as scans, autovacuum_count as vacuums
      from pg_stat_user_tables`,
    { ...TABLE_STATE, name: text },
  );
  return Object.fromEntries(rows.map(({ name, ...state }) => [name, state]));
}

/** How often each large table was read from end to end between two readings. */
function scannedTables(before: Record<string, TableState>, after: Record<string, TableState>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, { scans, rows }]) => {
      const times = scans - (before[name]?.scans ?? 0);
      return rows > LARGE_ROWS && times > 0 ? [[name, times]] : [];
    }),
  );
}

/** Watches for sequential scans of large tables. @returns a function that says how often each table was scanned */
export async function watchScans(stack: BenchStack): Promise<() => Promise<Record<string, number>>> {
  const before = await readTables(stack);
  return async () => scannedTables(before, await readTables(stack));
}

async function sweep(stack: BenchStack, kind: keyof CleanUpReport, retention: Retention) {
  const chunks: number[] = [];
  let rows = 0;
  let position: string | undefined;
  do {
    const startedAt = performance.now();
    const { removed, next } = await cleanUpChunk(stack.em(), kind, retention, position);
    chunks.push(performance.now() - startedAt);
    rows += removed;
    position = next;
  } while (position !== undefined);
  const seconds = chunks.reduce((sum, ms) => sum + ms, 0) / 1000;
  return {
    rows,
    seconds: round(seconds, 1),
    rowsPerSecond: round(rows / seconds),
    chunkP50Ms: round(quantile(chunks, 0.5)),
    chunkMaxMs: round(Math.max(...chunks)),
    lastTenChunksMs: round(quantile(chunks.slice(-11, -1), 0.5)),
  };
}

/**
 * Drops the oldest third, then records as much as was dropped. Tells how long it took, whether a large table was read
 * from end to end, how many dead rows were left, and the size of tables and indexes against that before.
 */
export async function measureRetention(context: BenchContext, stack: BenchStack, size: HistorySize): Promise<object> {
  const days = Math.round(size.days * (1 - DROPPED));
  const retention: Retention = {
    idempotencyTtlHours: 24,
    emailContents: 15,
    attachments: 7,
    emails: days,
    events: days,
    executions: days,
    jobs: 30,
    webhookDeliveries: 7,
    consents: days,
    auditEntries: 0,
    erasedContacts: days,
  };
  const before = await readTables(stack);
  const kinds: Record<string, object> = {};
  for (const kind of KINDS) {
    context.progress(`Dropping what is old: ${kind}`);
    kinds[kind] = await sweep(stack, kind, retention);
  }
  const after = await readTables(stack);
  context.progress('Waiting for autovacuum');
  await query(stack.em(), sql`vacuum`);
  context.progress('Recording as much again');
  const dropped = Math.floor((size.emails * DROPPED) / CHUNK) * CHUNK;
  for (let first = size.emails; first < size.emails + dropped; first += CHUNK) {
    await createChunk(stack, size, first);
  }
  const refilled = await readTables(stack);
  const tables = ['email', 'event', 'automation_execution', 'step_execution', 'email_content'];
  return {
    droppedDays: size.days - days,
    kinds,
    scanned: scannedTables(before, after),
    tables: Object.fromEntries(
      tables.map((name) => [
        name,
        {
          deadRows: after[name]?.dead,
          autovacuums: (after[name]?.vacuums ?? 0) - (before[name]?.vacuums ?? 0),
          megabytesBefore: round(before[name]?.megabytes ?? 0),
          megabytesRefilled: round(refilled[name]?.megabytes ?? 0),
          growth: round((refilled[name]?.megabytes ?? 0) / (before[name]?.megabytes ?? 1), 2),
        },
      ]),
    ),
  };
}
