import { NIL } from 'uuid';
import { DAY_MS } from '../../pure/days.ts';
import { OPEN_EMAIL_STATUSES } from '../../pure/emails/email-types.ts';
import { LIMITS } from '../../pure/limits.ts';
import { replacedConsents, unusedWordings } from '../consent/old-consents.ts';
import { sweepIdempotencyKeys } from '../idempotency/idempotency.ts';
import { campaignStatus, emailStatus } from '../../database/constants.ts';
import {
  limitStatements,
  query,
  queryCount,
  queryOne,
  sql,
  literalList,
  inTransaction,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { nullable, number, tables, text, type RowOf } from '../../database/tables.ts';
import type { Retention } from './retention.ts';
import { sweepOptIns } from './sweep-opt-ins.ts';

/** How long refusals of executions are kept. */
const REFUSAL_DAYS = 30;
/** Longer than the 7 days of complaint rates. */
const PROVIDER_DAYS = 9;
/** Longer than the days of `GET /deliverability`. */
const SOURCE_DAYS = LIMITS.deliverabilityDays + 2;
/** Workers report a provider every second while they have email for it, and no pause is nearly as long. */
const PROVIDER_STATE_DAYS = 1;
/** Rows of one kind that are removed at a time. */
export const CLEAN_UP_CHUNK = 5_000;
/** A sweep may read a large table to find its chunk. */
const SWEEP_MS = 10 * 60_000;

/** The result of one chunk. */
export interface SweptChunk {
  removed: number;
  /** The id after which the next chunk begins; missing after the last chunk. */
  next?: string;
}

/** Removes a chunk of rows of one kind. @param afterId `next` of the chunk before */
type Sweep = (em: Em, afterId?: string) => Promise<SweptChunk>;

const SWEPT = { count: number, last: nullable(text) };

/** The result of a chunk that ends at its `last` row. */
function chunkTo(swept: RowOf<typeof SWEPT> | undefined): SweptChunk {
  const removed = swept?.count ?? 0;
  return removed >= CLEAN_UP_CHUNK && swept?.last ? { removed, next: swept.last } : { removed };
}

/** The result of a chunk where each begins at the start. */
function chunkOf(removed: number): SweptChunk {
  return removed === CLEAN_UP_CHUNK ? { removed, next: NIL } : { removed };
}

/** Sweeps the rows of `table` whose `key` is in what `old` selects. */
function selected(table: SqlFragment, key: SqlFragment, old: SqlFragment): Sweep {
  return async (em) => {
    const statement = sql`
      with old as (${old} limit ${CLEAN_UP_CHUNK}),
      gone as (delete from ${table} where ${key} in (select * from old) returning 1)
      select count(*) from gone`;
    return chunkOf(await queryCount(em, statement));
  };
}

/** Sweeps the rows of `table` that fit a condition. @param key the columns of its primary key */
function fitting(table: SqlFragment, key: SqlFragment, condition: SqlFragment): Sweep {
  return selected(table, sql`(${key})`, sql`select ${key} from ${table} where ${condition}`);
}

/**
 * Sweeps old rows in the order of their ids, which is the order of their creation: it uses the primary key and reads
 * each page of the table once. The next chunk begins after the one before. If it began at the start of the table, it
 * would read all deleted rows first, because a backup that runs meanwhile keeps them in the table.
 * @param key the primary key or the first part of it: ids of version 7
 * @param condition for rows `t` that may be deleted
 */
function inOrder(days: number, table: SqlFragment, key: SqlFragment, condition = sql`true`): Sweep {
  return async (em, afterId = NIL) => {
    const statement = sql`
      with old as materialized (
        select ${key} as id from ${table} t
        where ${key} > ${afterId} and ${key} < ${idBefore(days)} and t.created_at ${olderThan(days)} and ${condition}
        order by ${key} limit ${CLEAN_UP_CHUNK}
      ),
      gone as (delete from ${table} where ${key} in (select id from old) returning 1)
      select (select count(*) from gone) as count, (select id from old order by id desc limit 1) as last`;
    return chunkTo(await queryOne(em, statement, SWEPT));
  };
}

function olderThan(days: number): SqlFragment {
  return sql`< now() - ${days}::int * interval '1 day'`;
}

/**
 * An id that is larger than those of rows that are older than `days`: ids of version 7 begin with the time of their
 * creation, so the primary key finds old rows. It leaves a day for clocks that differ, because `created_at` decides.
 */
function idBefore(days: number): string {
  const time = Math.max(Date.now() - (days - 1) * DAY_MS, 0)
    .toString(16)
    .padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** Old rows of `table` with a `project_id`, found project by project through the index on it and `at`. */
function oldByProject(table: SqlFragment, at: SqlFragment, condition: SqlFragment): SqlFragment {
  return sql`
    select t.* from project p cross join lateral (
      select * from ${table} where project_id = p.id and ${condition} order by ${at} limit ${CLEAN_UP_CHUNK}
    ) t`;
}

const isOver = (email: SqlFragment) => sql`${email}.status not in (${emailStatus.PENDING}, ${emailStatus.SENDING})`;

/** Contents of emails that have their outcome. */
const sweepEmailContents = (days: number): Sweep =>
  inOrder(
    days,
    sql`email_content`,
    sql`email_id`,
    sql`exists (select from email e where e.id = t.email_id and ${isOver(sql`e`)})`,
  );

/**
 * Old attachments, and those whose emails have no content any more: nothing can show or send them. A submitted message
 * goes with the content of its emails. The key is that of a set; sets have few files, so chunks stay small.
 */
const sweepAttachments = (days: number): Sweep =>
  inOrder(
    1,
    sql`attachment`,
    sql`set_id`,
    sql`(
      not exists (select from email_content c where c.attachment_set_id = t.set_id)
      or ${days}::int > 0 and t.submission is null and t.created_at ${olderThan(days)} and not exists (
        select from email_content c join email e on e.id = c.email_id
        where c.attachment_set_id = t.set_id and e.status in ${literalList(OPEN_EMAIL_STATUSES)}
      )
    )`,
  );

/** The counters of campaigns do not change when their emails are deleted. */
const sweepEmails = (days: number): Sweep =>
  inOrder(
    days,
    sql`email`,
    sql`id`,
    sql`${isOver(sql`t`)} and not exists (
      select from campaign c
      where c.id = t.campaign_id and c.status in (${campaignStatus.SCHEDULED}, ${campaignStatus.SENDING})
    )`,
  );

/** Deletes the event names that only deleted events had, too, because a project may have a limited number of names. */
const sweepEvents =
  (days: number): Sweep =>
  async (em, afterId) => {
    const swept = await inOrder(days, sql`event`, sql`id`)(em, afterId);
    if (swept.next === undefined && (afterId !== undefined || swept.removed > 0)) {
      // Each name is looked up by an index. With `not exists`, PostgreSQL may read all events. The newest event is looked
      // for, because the index still has the entries of those that were just deleted.
      await query(
        em,
        sql`
          delete from event_name n where (
            select true from event e where e.project_id = n.project_id and e.name = n.name
            order by e.created_at desc limit 1
          ) is null`,
      );
    }
    return swept;
  };

/**
 * Deletes executions that have ended, with their steps. The first execution of a contact keeps it from entering the
 * automation again, so its row stays, without its data.
 */
const sweepExecutions =
  (days: number): Sweep =>
  async (em) => {
    const condition = sql`completed_at ${olderThan(days)} and not is_stripped`;
    const swept = await queryCount(
      em,
      sql`
        with old as materialized (
          select o.id, o.is_first and exists (select from contact c where c.id = o.contact_id)
            and exists (select from automation a where a.id = o.automation_id) as is_kept
          from (${oldByProject(sql`automation_execution`, sql`completed_at`, condition)}) o limit ${CLEAN_UP_CHUNK}
        ),
        steps as (delete from step_execution where execution_id in (select id from old)),
        failures as (delete from former_failure where execution_id in (select id from old where is_kept)),
        kept as (
          update automation_execution x set is_stripped = true, context = '{}', exit_reason = null
          from old where x.id = old.id and old.is_kept
        ),
        gone as (delete from automation_execution where id in (select id from old where not is_kept))
        select count(*) from old`,
    );
    return chunkOf(swept);
  };

/** The last rows of erased contacts, which have only hashes. Links in old emails and late complaints use them. */
function sweepErasedContacts(days: number): Sweep {
  const condition = sql`erased_at ${olderThan(days)} and due_at is null`;
  const old = oldByProject(sql`erased_contact`, sql`erased_at`, condition);
  return selected(sql`erased_contact`, sql`contact_id`, sql`select contact_id from (${old}) o`);
}

/**
 * Former graphs of automations that no execution has. An execution is created while its graph is the present one, or
 * within the length of a transaction of that time. So the index on the time of creation finds the executions of a graph,
 * and no other index is needed. A graph that was repaired for a retry has the time of the one it replaces.
 */
const FORMER_GRAPHS = sql`
  select id from (
    select id, automation_id, created_at,
      min(created_at) over (partition by automation_id order by created_at groups between 1 following and 1 following)
        as replaced_at
    from automation_graph
  ) g
  where replaced_at ${olderThan(1)}
    and not exists (select from automation a where a.id = g.automation_id and a.graph_id = g.id)
    and not exists (
      select from automation_execution x
      where x.automation_id = g.automation_id and x.graph_id = g.id
        and x.created_at between g.created_at - interval '1 day' and g.replaced_at + interval '1 day'
    )`;

/**
 * The states of providers and relays that no worker has reported for a day, such as the pause of a provider that nobody
 * has email for any more. Workers read all states every second, and report only those that they send to.
 */
const IS_UNREPORTED = sql`
  coalesce((select max(at_ms::float8) from jsonb_each_text(state -> 'workers') as w (worker_id, at_ms)), 0)
    < extract(epoch from now() - ${PROVIDER_STATE_DAYS}::int * interval '1 day') * 1000`;

/** Takes old events out of the feed of webhook endpoints; the first numbers are the oldest. */
const sweepWebhookEvents =
  (days: number): Sweep =>
  async (em, afterNo = '0') => {
    const statement = sql`
      with first as materialized (
        select no, at from webhook_feed where no > ${afterNo}::bigint order by no limit ${CLEAN_UP_CHUNK}
      ),
      gone as (delete from webhook_feed where no in (select no from first where at ${olderThan(days)}) returning no)
      select count(*) as count, max(no)::text as last from gone`;
    return chunkTo(await queryOne(em, statement, SWEPT));
  };

/** Forgets replaced secrets of webhook endpoints whose time is over. */
async function sweepWebhookSecrets(em: Em): Promise<SweptChunk> {
  const cleared = await query(
    em,
    sql`
      update webhook_endpoint set previous_secret = null, previous_secret_until = null
      where previous_secret_until <= now() returning id`,
    { id: tables.webhookEndpoint.id },
  );
  return { removed: cleared.length };
}

/** A sweep of rows that the operator may keep forever, with 0 days. */
function kept(days: number, sweepOf: (days: number) => Sweep): Sweep {
  return days === 0 ? () => Promise.resolve({ removed: 0 }) : sweepOf(days);
}

/** The sweeps, in their order. */
function sweepsOf(retention: Retention) {
  return {
    idempotencyKeys: async (em) =>
      chunkOf(await sweepIdempotencyKeys(em, retention.idempotencyTtlHours, CLEAN_UP_CHUNK)),
    emailContents: kept(retention.emailContents, sweepEmailContents),
    attachments: sweepAttachments(retention.attachments),
    emails: kept(retention.emails, sweepEmails),
    events: kept(retention.events, sweepEvents),
    executions: kept(retention.executions, sweepExecutions),
    jobs: kept(retention.jobs, (days) =>
      fitting(sql`job`, sql`id`, sql`state in ('completed', 'failed') and updated_at ${olderThan(days)}`),
    ),
    // Normally the end of a job deletes its file.
    jobFiles: selected(
      sql`job_file`,
      sql`job_id`,
      sql`select f.job_id from job_file f join job j on j.id = f.job_id where j.state in ('completed', 'failed')`,
    ),
    graphSnapshots: selected(sql`automation_graph`, sql`id`, FORMER_GRAPHS),
    refusals: fitting(sql`automation_refusal`, sql`id`, sql`created_at ${olderThan(REFUSAL_DAYS)}`),
    // Deliveries that are still to be made stay.
    webhookDeliveries: kept(retention.webhookDeliveries, (days) =>
      inOrder(days, sql`webhook_delivery`, sql`id`, sql`t.updated_at ${olderThan(days)} and t.retry_at is null`),
    ),
    webhookEvents: kept(retention.events, sweepWebhookEvents),
    webhookSecrets: sweepWebhookSecrets,
    erasedContacts: kept(retention.erasedContacts, sweepErasedContacts),
    providerDays: fitting(sql`provider_day`, sql`project_id, provider, day`, sql`day ${olderThan(PROVIDER_DAYS)}`),
    sourceDays: fitting(sql`source_day`, sql`source, provider, day`, sql`day ${olderThan(SOURCE_DAYS)}`),
    providerStates: fitting(sql`provider_health`, sql`relay, provider`, IS_UNREPORTED),
    // No window of a rule reaches back so far.
    allowances: fitting(sql`allowance`, sql`subject, provider`, sql`used_at ${olderThan(2)}`),
    // Work that waited longer in the outbox begins a trace of its own.
    traceContexts: fitting(sql`trace_context`, sql`subject_id`, sql`created_at ${olderThan(1)}`),
    auditEntries: kept(retention.auditEntries, (days) => inOrder(days, sql`audit_entry`, sql`id`)),
    consents: kept(retention.consents, (days) =>
      selected(sql`consent_record`, sql`(contact_id, id)`, replacedConsents(days)),
    ),
    wordings: selected(sql`wording`, sql`created_at ${olderThan(1)} and id`, unusedWordings(1)),
    optIns: async (em) => ({ removed: await sweepOptIns(em, CLEAN_UP_CHUNK) }),
  } satisfies Record<string, Sweep>;
}

/** How many rows of each kind were removed. */
export type CleanUpReport = Record<keyof ReturnType<typeof sweepsOf>, number>;

/** The kinds of rows that are swept, in their order. */
export function cleanUpKinds(retention: Retention): (keyof CleanUpReport)[] {
  return Object.keys(sweepsOf(retention)) as (keyof CleanUpReport)[];
}

/**
 * Deletes a chunk of expired rows of one kind, so that a large backlog is many short transactions.
 * @param afterId `next` of the chunk before; the first chunk when left out
 */
export async function cleanUpChunk(
  em: Em,
  kind: keyof CleanUpReport,
  retention: Retention,
  afterId?: string,
): Promise<SweptChunk> {
  return inTransaction(em, async (tx) => {
    await limitStatements(tx, SWEEP_MS);
    const sweep: Sweep = sweepsOf(retention)[kind];
    return sweep(tx, afterId);
  });
}
