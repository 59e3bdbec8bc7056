import { campaignStatus, executionStatus, jobState } from '../../database/constants.ts';
import {
  limitStatements,
  query,
  queryOne,
  sql,
  TODAY,
  inTransaction,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { number, tables, text, type RowOf } from '../../database/tables.ts';
import { EMAILS_MIN } from '../../pure/deliverability.ts';
import { OUTBOX_KINDS } from '../../pure/outbox-kinds.ts';

/** The number of waiting items, and for how many seconds the oldest has waited. */
const BACKLOG = { rows: number, oldestSeconds: number };
export type Backlog = RowOf<typeof BACKLOG>;

/** No more rows than this are counted, so that reading stays cheap when there are many. */
export const ROWS_COUNTED_MAX = 10_000;
/** Rows that are read to find the oldest. Ids grow with time, so the first ones are the oldest. */
const ROWS_LOOKED_AT = 1_000;
const STATEMENT_MS = 2_000;

const secondsSince = (moment: SqlFragment): SqlFragment =>
  sql`greatest(0, coalesce(extract(epoch from clock_timestamp() - ${moment}), 0))::float8`;

/** The moment in an id of version 7 (RFC 9562 section 5.7). */
const MOMENT_OF_ID = sql`to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`;

async function outboxBacklog(em: Em) {
  return query(
    em,
    sql`
      with oldest as (
        select kind, min(${MOMENT_OF_ID}) as since
        from (select * from outbox order by id limit ${ROWS_LOOKED_AT}) o
        where attempts > 0 or (batch_id is null and available_at <= now()) group by kind
      )
      select k.kind, n.rows, ${secondsSince(sql`o.since`)} as "oldestSeconds"
      from unnest(${[...OUTBOX_KINDS]}::text[]) as k (kind) left join oldest o on o.kind = k.kind
      cross join lateral (
        select count(*)::int as rows from (
          select from outbox where kind = k.kind and batch_id is null limit ${ROWS_COUNTED_MAX}
        ) r
      ) n`,
    { rows: number, oldestSeconds: number, kind: text },
  );
}

async function emailBacklog(em: Em): Promise<Backlog> {
  const row = await queryOne(
    em,
    sql`
      select count(*)::int as rows, ${secondsSince(sql`min(delivery_due_at)`)} as "oldestSeconds"
      from (
        select delivery_due_at from email where delivery_due_at <= now()
        order by delivery_due_at limit ${ROWS_COUNTED_MAX}
      ) e`,
    BACKLOG,
  );
  return row ?? { rows: 0, oldestSeconds: 0 };
}

/** Millions of executions may wait. Above `ROWS_COUNTED_MAX` the planner's estimate for their index is used. */
async function executionFigures(em: Em) {
  const row = await queryOne(
    em,
    sql`
      select
        (select count(*)::int from (
          select from automation_execution where status = ${executionStatus.RUNNING} limit ${ROWS_COUNTED_MAX}) r) as running,
        (select count(*)::int from (
          select from automation_execution where status = ${executionStatus.WAITING} limit ${ROWS_COUNTED_MAX}) w) as waiting,
        (select reltuples::float8 from pg_class where oid = 'automation_execution_due'::regclass) as estimate,
        ${secondsSince(sql`(
          select resume_at from automation_execution where status = ${executionStatus.WAITING} and resume_at <= now()
          order by resume_at limit 1)`)} as lag`,
    { running: number, waiting: number, estimate: number, lag: number },
  );
  const { running = 0, waiting = 0, estimate = 0, lag = 0 } = row ?? {};
  const executions = { running, waiting: waiting < ROWS_COUNTED_MAX ? waiting : Math.max(waiting, estimate) };
  return { executions, executionLagSeconds: lag };
}

async function jobFigures(em: Em) {
  return query(
    em,
    sql`
      select kind, state, count(*)::int as rows,
        min(case when total > 0 then least(1, position::float8 / total) else 0 end) as progress,
        ${secondsSince(sql`min(updated_at)`)} as "idleSeconds"
      from (
        select * from job where state in (${jobState.waiting}, ${jobState.active}) order by state, updated_at limit ${ROWS_LOOKED_AT}
      ) j group by kind, state`,
    { kind: tables.job.kind, state: tables.job.state, rows: number, progress: number, idleSeconds: number },
  );
}

async function campaignFigures(em: Em) {
  const row = await queryOne(
    em,
    sql`
      select count(*)::int as sending, coalesce(sum(greatest(0,
        total_recipients - sent_count - failed_count - skipped_count - suppressed_count)), 0)::int as "recipientsLeft"
      from (select * from campaign where status = ${campaignStatus.SENDING} limit ${ROWS_LOOKED_AT}) c`,
    { sending: number, recipientsLeft: number },
  );
  return row ?? { sending: 0, recipientsLeft: 0 };
}

/**
 * The providers that are paused now. A pause that ended an hour ago and was not renewed has no emails that wait for it.
 */
async function pausedProviders(em: Em) {
  return query(
    em,
    sql`
      select relay, provider from provider_health
      where (state -> 'pause' ->> 'untilMs')::float8 > extract(epoch from now() - interval '1 hour') * 1000
      limit ${ROWS_LOOKED_AT}`,
    { relay: tables.providerHealth.relay, provider: tables.providerHealth.provider },
  );
}

/** Only of sources and providers with as many emails as say something. */
async function reputationRatios(em: Em) {
  return query(
    em,
    sql`
      select source, provider, sum(deferred_reputation + refused_reputation)::float8 / sum(offered) as ratio
      from source_day where day >= ${TODAY} - 1
      group by source, provider having sum(offered) >= ${EMAILS_MIN} order by sum(offered) desc limit ${ROWS_LOOKED_AT}`,
    { source: tables.sourceDay.source, provider: tables.sourceDay.provider, ratio: number },
  );
}

/** Endpoints get an event when all transactions that took a smaller number in the feed have ended. */
async function webhookEventsHeldSeconds(em: Em): Promise<number> {
  const row = await queryOne(
    em,
    sql`
      select ${secondsSince(sql`(
        select at from webhook_feed where no > (select settled_no from webhook_horizon) order by no limit 1)`)} as seconds`,
    { seconds: number },
  );
  return row?.seconds ?? 0;
}

/**
 * Reads the figures. Every statement reads a bounded number of rows by an index, and ends after two seconds.
 * @throws the driver's error when the database cannot be reached or is too slow
 */
export async function readFigures(em: Em) {
  return inTransaction(em, async (tx) => {
    await limitStatements(tx, STATEMENT_MS);
    return {
      outbox: await outboxBacklog(tx),
      /** Due emails that are transactional or of automations. */
      emailsDue: await emailBacklog(tx),
      ...(await executionFigures(tx)),
      /** Jobs that have not ended: their least progress, 0 to 1, and the longest time without progress. */
      jobs: await jobFigures(tx),
      campaigns: await campaignFigures(tx),
      pausedProviders: await pausedProviders(tx),
      reputation: await reputationRatios(tx),
      webhookEventsHeldSeconds: await webhookEventsHeldSeconds(tx),
    };
  });
}

/** The figures that an operator watches, over all projects. */
export type Figures = Awaited<ReturnType<typeof readFigures>>;
