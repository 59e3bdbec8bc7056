import { setTimeout as delay } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { query, queryOne, sql } from '../../shared/database/sql.ts';
import { text } from '../../shared/database/tables.ts';
import { round, type BenchContext } from './contract.ts';
import { readCpu } from './request-bench.ts';
import type { BenchStack } from './stack.ts';

const { EventType } = proto.temporal.api.enums.v1;
/**
 * Events that Temporal Cloud counts as actions. Heartbeats and failed attempts leave no event, so they are not counted
 * here.
 */
const ACTIONS: readonly unknown[] = [
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
  EventType.EVENT_TYPE_TIMER_STARTED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED,
];
/** PostgreSQL publishes its counters this often, and Temporal's index is as late. */
const SETTLE_MS = 3_000;
const IDLE_MS = 6_000;
/** At most this many histories are read, to estimate which share of events are actions. */
const HISTORIES_MAX = 200;

interface DatabaseReading {
  walBytes: number;
  commits: number;
  tables: Map<string, TableReading>;
}

interface TableReading {
  inserted: number;
  updated: number;
  heapBytes: number;
  indexBytes: number;
}

/** What one unit of work cost. CPU in milliseconds, the rest as named. */
export interface UnitCost {
  cpuMs: Record<string, number>;
  postgres: { rows: number; updates: number; commits: number; heapBytes: number; indexBytes: number; walBytes: number };
  temporal: { events: number; actions: number; historyBytes: number };
}

async function readDatabase(stack: BenchStack): Promise<DatabaseReading> {
  const totals = await queryOne(
    stack.em(),
    sql`
      select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as wal, xact_commit::text as commits
      from pg_stat_database where datname = current_database()`,
    { wal: text, commits: text },
  );
  const tables = await query(
    stack.em(),
    sql`
      select relname as name, n_tup_ins::text as inserted, n_tup_upd::text as updated,
        pg_table_size(relid)::text as "heapBytes", pg_indexes_size(relid)::text as "indexBytes"
      from pg_stat_user_tables`,
    { name: text, inserted: text, updated: text, heapBytes: text, indexBytes: text },
  );
  return {
    walBytes: Number(totals?.wal),
    commits: Number(totals?.commits),
    tables: new Map(
      tables.map(({ name, inserted, updated, heapBytes, indexBytes }) => [
        name,
        {
          inserted: Number(inserted),
          updated: Number(updated),
          heapBytes: Number(heapBytes),
          indexBytes: Number(indexBytes),
        },
      ]),
    ),
  };
}

const NOTHING: TableReading = { inserted: 0, updated: 0, heapBytes: 0, indexBytes: 0 };

function growth(before: DatabaseReading, after: DatabaseReading, field: keyof TableReading): number {
  let sum = 0;
  for (const [name, table] of after.tables) sum += table[field] - (before.tables.get(name) ?? NOTHING)[field];
  return sum;
}

/** The events, actions and bytes of history of all workflows that began since then. */
async function readTemporal({ temporal }: BenchStack, since: Date): Promise<UnitCost['temporal']> {
  let events = 0;
  let historyBytes = 0;
  let workflows = 0;
  let sampled = 0;
  let sampledActions = 0;
  for await (const info of temporal.workflow.list({ query: `StartTime >= '${since.toISOString()}'` })) {
    if (info.type.startsWith('temporal-sys')) continue;
    workflows++;
    events += info.historyLength;
    historyBytes += info.historySize ?? 0;
    if (sampled >= HISTORIES_MAX) continue;
    const history = await temporal.workflow.getHandle(info.workflowId, info.runId).fetchHistory();
    sampled++;
    sampledActions += (history.events ?? []).filter(({ eventType }) => ACTIONS.includes(eventType)).length;
  }
  const actions = sampled === 0 ? 0 : (sampledActions / sampled) * workflows;
  return { events, actions, historyBytes };
}

/** CPU that every process takes while nothing happens, per millisecond. */
export async function measureIdle(context: BenchContext, stack: BenchStack): Promise<Record<string, number>> {
  context.progress('Measuring what the processes take while nothing happens');
  await delay(SETTLE_MS);
  const api = stack.pids.api ?? 0;
  const before = readCpu(context, stack, api);
  await delay(IDLE_MS);
  const after = readCpu(context, stack, api);
  return Object.fromEntries(
    Object.keys(after).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / IDLE_MS]),
  );
}

/**
 * Measures what `work` costs for each of the units that it says it has done, without what idle processes take.
 * @param idle of `measureIdle`
 */
export async function measureCost(
  context: BenchContext,
  stack: BenchStack,
  idle: Record<string, number>,
  work: () => Promise<number>,
): Promise<UnitCost> {
  const api = stack.pids.api ?? 0;
  await delay(SETTLE_MS);
  const since = new Date();
  const before = await readDatabase(stack);
  const cpuBefore = readCpu(context, stack, api);
  const startedAt = performance.now();
  const units = await work();
  const elapsedMs = performance.now() - startedAt;
  const cpuAfter = readCpu(context, stack, api);
  await delay(SETTLE_MS);
  const after = await readDatabase(stack);
  const temporal = await readTemporal(stack, since);
  const each = (value: number, digits: number): number => round(value / units, digits);
  const cpuOf = (name: string): number =>
    (cpuAfter[name] ?? 0) - (cpuBefore[name] ?? 0) - (idle[name] ?? 0) * elapsedMs;
  return {
    cpuMs: Object.fromEntries(Object.keys(cpuAfter).map((name) => [name, each(Math.max(0, cpuOf(name)), 3)])),
    postgres: {
      rows: each(growth(before, after, 'inserted'), 2),
      updates: each(growth(before, after, 'updated'), 2),
      commits: each(after.commits - before.commits, 3),
      heapBytes: each(growth(before, after, 'heapBytes'), 0),
      indexBytes: each(growth(before, after, 'indexBytes'), 0),
      walBytes: each(after.walBytes - before.walBytes, 0),
    },
    temporal: {
      events: each(temporal.events, 4),
      actions: each(temporal.actions, 4),
      historyBytes: each(temporal.historyBytes, 1),
    },
  };
}
