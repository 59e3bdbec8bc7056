import { NIL } from 'uuid';
import { DAY_MS } from '../../pure/days.ts';
import { OPEN_EMAIL_STATUSES } from '../../pure/emails/email-types.ts';
import { LIMITS } from '../../pure/limits.ts';
import { replacedConsents, unusedWordings } from '../consent/old-consents.ts';
import { sweepIdempotencyKeys } from '../idempotency/idempotency.ts';
import type { Em } from '../../database/em.ts';
import { campaignStatus, emailStatus } from '../../database/constants.ts';
import { limitStatements, query, queryOne, sql, type SqlFragment, literalList } from '../../database/sql.ts';
import { nullable, number, tables, text } from '../../database/tables.ts';
import { inTransaction } from '../../database/transaction.ts';
import type { Retention } from './retention.ts';
import { sweepOptIns } from './sweep-opt-ins.ts';

/** How many rows of each kind were removed. */
export interface CleanUpReport {
  idempotencyKeys: number;
  emailContents: number;
  attachments: number;
  emails: number;
  events: number;
  executions: number;
  jobs: number;
  jobFiles: number;
  graphSnapshots: number;
  refusals: number;
  webhookDeliveries: number;
  webhookEvents: number;
  /** Replaced secrets of webhook endpoints that no longer sign. */
  webhookSecrets: number;
  erasedContacts: number;
  providerDays: number;
  sourceDays: number;
  providerStates: number;
  allowances: number;
  traceContexts: number;
  auditEntries: number;
  consents: number;
  wordings: number;
  optIns: number;
}

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

/** Deletes rows of `table` whose `key` is in a chunk of those that `old` selects. @returns how many were deleted */
async function deleteChunk(em: Em, table: SqlFragment, key: SqlFragment, old: SqlFragment): Promise<number> {
  const deleted = await queryOne(
    em,
    sql`
      with old as (${old} limit ${CLEAN_UP_CHUNK}),
      gone as (delete from ${table} where ${key} in (select * from old) returning 1)
      select count(*) from gone`,
    { count: number },
  );
  return deleted?.count ?? 0;
}

interface AgedRows {
  table: SqlFragment;
  /** Its primary key or the first part of it: ids of version 7. */
  key: SqlFragment;
  days: number;
  /** The condition for rows `t` that may be deleted. */
  condition?: SqlFragment;
}

/**
 * Deletes a chunk of old rows in the order of their ids, which is the order of their creation: it uses the primary key
 * and reads each page of the table once. The next chunk begins after this one. If it began at the start of the table,
 * it would read all deleted rows first, because a backup that runs meanwhile keeps them in the table.
 */
async function deleteInOrder(
  em: Em,
  { table, key, days, condition }: AgedRows,
  afterId: string = NIL,
): Promise<SweptChunk> {
  const swept = await queryOne(
    em,
    sql`
      with old as materialized (
        select ${key} as id from ${table} t
        where ${key} > ${afterId} and ${key} < ${idBefore(days)} and t.created_at ${olderThan(days)}
          and ${condition ?? sql`true`}
        order by ${key} limit ${CLEAN_UP_CHUNK}
      ),
      gone as (delete from ${table} where ${key} in (select id from old) returning 1)
      select (select count(*) from gone) as count, (select id from old order by id desc limit 1) as last`,
    { count: number, last: nullable(text) },
  );
  const removed = swept?.count ?? 0;
  return removed >= CLEAN_UP_CHUNK && swept?.last ? { removed, next: swept.last } : { removed };
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

function sweepEmailContents(em: Em, { emailContents: days }: Retention, afterId?: string): Promise<SweptChunk> {
  const condition = sql`exists (select from email e where e.id = t.email_id and e.status not in (${emailStatus.PENDING}, ${emailStatus.SENDING}))`;
  return deleteInOrder(em, { table: sql`email_content`, key: sql`email_id`, days, condition }, afterId);
}

/**
 * Deletes old attachments, and those whose emails have no content any more: nothing can show or send them. A submitted
 * message goes with the content of its emails. The key is that of a set; sets have few files, so chunks stay small.
 */
function sweepAttachments(em: Em, { attachments: days }: Retention, afterId?: string): Promise<SweptChunk> {
  const condition = sql`(
    not exists (select from email_content c where c.attachment_set_id = t.set_id)
    or ${days}::int > 0 and t.submission is null and t.created_at ${olderThan(days)} and not exists (
      select from email_content c join email e on e.id = c.email_id
      where c.attachment_set_id = t.set_id and e.status in ${literalList(OPEN_EMAIL_STATUSES)}
    )
  )`;
  return deleteInOrder(em, { table: sql`attachment`, key: sql`set_id`, days: 1, condition }, afterId);
}

/** The counters of campaigns do not change when their emails are deleted. */
function sweepEmails(em: Em, { emails: days }: Retention, afterId?: string): Promise<SweptChunk> {
  const condition = sql`t.status not in (${emailStatus.PENDING}, ${emailStatus.SENDING})
    and not exists (select from campaign c where c.id = t.campaign_id and c.status in (${campaignStatus.SCHEDULED}, ${campaignStatus.SENDING}))`;
  return deleteInOrder(em, { table: sql`email`, key: sql`id`, days, condition }, afterId);
}

/** Deletes the event names that only deleted events had, too, because a project may have a limited number of names. */
async function sweepEvents(em: Em, { events: days }: Retention, afterId?: string): Promise<SweptChunk> {
  const swept = await deleteInOrder(em, { table: sql`event`, key: sql`id`, days }, afterId);
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
}

/**
 * Deletes executions that have ended, with their steps. The first execution of a contact keeps it from entering the
 * automation again, so its row stays, without its data.
 */
async function sweepExecutions(em: Em, { executions: days }: Retention): Promise<number> {
  const old = oldByProject(
    sql`automation_execution`,
    sql`completed_at`,
    sql`completed_at ${olderThan(days)} and not is_stripped`,
  );
  const swept = await queryOne(
    em,
    sql`
      with old as materialized (
        select o.id, o.is_first and exists (select from contact c where c.id = o.contact_id)
          and exists (select from automation a where a.id = o.automation_id) as is_kept
        from (${old}) o limit ${CLEAN_UP_CHUNK}
      ),
      steps as (delete from step_execution where execution_id in (select id from old)),
      failures as (delete from former_failure where execution_id in (select id from old where is_kept)),
      kept as (
        update automation_execution x set is_stripped = true, context = '{}', exit_reason = null
        from old where x.id = old.id and old.is_kept
      ),
      gone as (delete from automation_execution where id in (select id from old where not is_kept))
      select count(*) from old`,
    { count: number },
  );
  return swept?.count ?? 0;
}

/**
 * Deletes the last rows of erased contacts, which have only hashes. Links in old emails and late complaints use them.
 */
function sweepErasedContacts(em: Em, { erasedContacts: days }: Retention): Promise<number> {
  const old = oldByProject(sql`erased_contact`, sql`erased_at`, sql`erased_at ${olderThan(days)} and due_at is null`);
  return deleteChunk(em, sql`erased_contact`, sql`contact_id`, sql`select contact_id from (${old}) o`);
}

function sweepJobs(em: Em, { jobs: days }: Retention): Promise<number> {
  const old = sql`select id from job where state in ('completed', 'failed') and updated_at ${olderThan(days)}`;
  return deleteChunk(em, sql`job`, sql`id`, old);
}

/** Deletes files whose job has ended. Normally the end of a job deletes its file. */
function sweepJobFiles(em: Em): Promise<number> {
  const old = sql`
    select f.job_id from job_file f join job j on j.id = f.job_id where j.state in ('completed', 'failed')`;
  return deleteChunk(em, sql`job_file`, sql`job_id`, old);
}

/**
 * Deletes former graphs of automations that no execution has. An execution is created while its graph is the present
 * one, or within the length of a transaction of that time. So the index on the time of creation finds the executions of
 * a graph, and no other index is needed. A graph that was repaired for a retry has the time of the one it replaces.
 */
function sweepGraphSnapshots(em: Em): Promise<number> {
  const old = sql`
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
  return deleteChunk(em, sql`automation_graph`, sql`id`, old);
}

function sweepRefusals(em: Em): Promise<number> {
  const old = sql`select id from automation_refusal where created_at ${olderThan(REFUSAL_DAYS)}`;
  return deleteChunk(em, sql`automation_refusal`, sql`id`, old);
}

/** Deletes days that are too old for complaint rates. */
function sweepProviderDays(em: Em): Promise<number> {
  const old = sql`select project_id, provider, day from provider_day where day ${olderThan(PROVIDER_DAYS)}`;
  return deleteChunk(em, sql`provider_day`, sql`(project_id, provider, day)`, old);
}

function sweepSourceDays(em: Em): Promise<number> {
  const old = sql`select source, provider, day from source_day where day ${olderThan(SOURCE_DAYS)}`;
  return deleteChunk(em, sql`source_day`, sql`(source, provider, day)`, old);
}

/** Deletes what is known of the use of rules, once no window of a rule reaches back so far. */
function sweepAllowances(em: Em): Promise<number> {
  return deleteChunk(
    em,
    sql`allowance`,
    sql`(subject, provider)`,
    sql`select subject, provider from allowance where used_at ${olderThan(2)}`,
  );
}

/**
 * Deletes states of providers and relays that no worker has reported for a day, such as the pause of a provider that
 * nobody has email for any more. Workers read all states every second, and report only those that they send to.
 */
function sweepProviderStates(em: Em): Promise<number> {
  const old = sql`
    select relay, provider from provider_health where coalesce((
      select max(at_ms::float8) from jsonb_each_text(state -> 'workers') as w (worker_id, at_ms)
    ), 0) < extract(epoch from now() - ${PROVIDER_STATE_DAYS}::int * interval '1 day') * 1000`;
  return deleteChunk(em, sql`provider_health`, sql`(relay, provider)`, old);
}

/** Deletes traces that are a day old: work that waited longer in the outbox begins a trace of its own. */
function sweepTraceContexts(em: Em): Promise<number> {
  const old = sql`select subject_id from trace_context where created_at ${olderThan(1)}`;
  return deleteChunk(em, sql`trace_context`, sql`subject_id`, old);
}

const sweepConsents = (em: Em, { consents: days }: Retention): Promise<number> =>
  deleteChunk(em, sql`consent_record`, sql`(contact_id, id)`, replacedConsents(days));
const sweepWordings = (em: Em): Promise<number> =>
  deleteChunk(em, sql`wording`, sql`created_at ${olderThan(1)} and id`, unusedWordings(1));

/** Deletes the log of requests to webhook endpoints. Deliveries that are still to be made stay. */
function sweepWebhookDeliveries(em: Em, { webhookDeliveries: days }: Retention, afterId?: string): Promise<SweptChunk> {
  const condition = sql`t.updated_at ${olderThan(days)} and t.retry_at is null`;
  return deleteInOrder(em, { table: sql`webhook_delivery`, key: sql`id`, days, condition }, afterId);
}

/** Takes old events out of the feed of webhook endpoints; the first numbers are the oldest. */
async function sweepWebhookEvents(em: Em, { events: days }: Retention, afterNo = '0'): Promise<SweptChunk> {
  const swept = await queryOne(
    em,
    sql`
      with first as materialized (
        select no, at from webhook_feed where no > ${afterNo}::bigint order by no limit ${CLEAN_UP_CHUNK}
      ),
      gone as (delete from webhook_feed where no in (select no from first where at ${olderThan(days)}) returning no)
      select count(*) as count, max(no)::text as last from gone`,
    { count: number, last: nullable(text) },
  );
  const removed = swept?.count ?? 0;
  return removed >= CLEAN_UP_CHUNK && swept?.last ? { removed, next: swept.last } : { removed };
}

/** Forgets replaced secrets of webhook endpoints whose time is over. */
async function sweepWebhookSecrets(em: Em): Promise<number> {
  const cleared = await query(
    em,
    sql`
      update webhook_endpoint set previous_secret = null, previous_secret_until = null
      where previous_secret_until <= now() returning id`,
    { id: tables.webhookEndpoint.id },
  );
  return cleared.length;
}

type Sweep = (em: Em, retention: Retention, afterId?: string) => Promise<SweptChunk>;

/** A sweep in which every chunk begins at the start. */
function fromStart(sweep: (em: Em, retention: Retention) => Promise<number>): Sweep {
  return async (em, retention) => {
    const removed = await sweep(em, retention);
    return removed === CLEAN_UP_CHUNK ? { removed, next: NIL } : { removed };
  };
}

/** A sweep of rows that the operator may keep forever. */
function unlessKept(kind: keyof CleanUpReport & keyof Retention, sweep: Sweep): Sweep {
  return async (em, retention, afterId) => (retention[kind] === 0 ? { removed: 0 } : sweep(em, retention, afterId));
}

const SWEEPS: Record<keyof CleanUpReport, Sweep> = {
  idempotencyKeys: fromStart((em, { idempotencyTtlHours }) =>
    sweepIdempotencyKeys(em, idempotencyTtlHours, CLEAN_UP_CHUNK),
  ),
  emailContents: unlessKept('emailContents', sweepEmailContents),
  attachments: sweepAttachments,
  emails: unlessKept('emails', sweepEmails),
  events: unlessKept('events', sweepEvents),
  executions: unlessKept('executions', fromStart(sweepExecutions)),
  jobs: unlessKept('jobs', fromStart(sweepJobs)),
  jobFiles: fromStart(sweepJobFiles),
  graphSnapshots: fromStart(sweepGraphSnapshots),
  refusals: fromStart(sweepRefusals),
  webhookDeliveries: unlessKept('webhookDeliveries', sweepWebhookDeliveries),
  webhookEvents: async (em, retention, afterNo) =>
    retention.events === 0 ? { removed: 0 } : sweepWebhookEvents(em, retention, afterNo),
  webhookSecrets: async (em) => ({ removed: await sweepWebhookSecrets(em) }),
  erasedContacts: unlessKept('erasedContacts', fromStart(sweepErasedContacts)),
  providerDays: fromStart(sweepProviderDays),
  sourceDays: fromStart(sweepSourceDays),
  providerStates: fromStart(sweepProviderStates),
  allowances: fromStart(sweepAllowances),
  traceContexts: fromStart(sweepTraceContexts),
  auditEntries: unlessKept('auditEntries', (em, { auditEntries: days }, afterId) =>
    deleteInOrder(em, { table: sql`audit_entry`, key: sql`id`, days }, afterId),
  ),
  consents: unlessKept('consents', fromStart(sweepConsents)),
  wordings: fromStart(sweepWordings),
  optIns: async (em) => ({ removed: await sweepOptIns(em, CLEAN_UP_CHUNK) }),
};

/** The kinds of rows that are swept, in order. */
export const CLEAN_UP_KINDS = Object.keys(SWEEPS) as (keyof CleanUpReport)[];

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
    return SWEEPS[kind](tx, retention, afterId);
  });
}
