import { setTimeout as delay } from 'node:timers/promises';
import { projectSubject } from '../../sending/permit/keys.ts';
import { readClock } from '../../database/clock.ts';
import { query, queryCount, sql, SqlFragment, inTransaction, type Em } from '../../database/sql.ts';
import { ATTEMPT_ENDS_MS } from '../emails/orphaned-deliveries.ts';

/** Rows that one statement deletes. It takes well under a second, so others do not wait long for its locks. */
const CHUNK = 5_000;
/** Emails that one statement deletes, with their contents and attachments. */
const EMAIL_CHUNK = 500;

/** Longest wait for transactions that were open when the project was deleted, and may have written rows of it. */
const SETTLE_MS_MAX = 60_000;
const SETTLE_POLL_MS = 200;

/** Stands for deleted projects in what a warm-up has sent today. */
const NOBODY = 'deleted';

/** Rows that are deleted with a project. */
interface Deletion {
  table: string;
  /** What selects them after `from <table> r`; missing for those with the id of the project. */
  rows?: (projectId: string) => SqlFragment;
  /** Deletes what has no column for the project together with the rows `gone`. */
  also?: SqlFragment;
  /** The column that `also` knows as `gone.id`. */
  id?: string;
  chunk?: number;
}

/** A statement that deletes a chunk of rows and counts them. */
function statementOf({ table, rows, also, id = 'id', chunk = CHUNK }: Deletion, projectId: string): SqlFragment {
  const from = new SqlFragment(table);
  return sql`
    with gone as (
      delete from ${from} where ctid = any(array(
        select r.ctid from ${from} r ${rows?.(projectId) ?? sql`where r.project_id = ${projectId}`} limit ${chunk}
      ))
      returning ${new SqlFragment(also ? id : '1')} as id
    )${also ? sql`, ${also}` : sql``}
    select count(*)::int as count from gone`;
}

/** What belongs to traces of requests has no column for the project, so it is deleted with what the requests made. */
const TRACES = sql`traces as (delete from trace_context t using gone g where t.subject_id = g.id)`;
/** The record of consent has no index for the project, so it is deleted with the contacts. */
const CONSENTS = sql`
  consents as (delete from consent_record r using gone g where r.contact_id = g.id),
  opt_ins as (delete from opt_in o using gone g where o.contact_id = g.id)`;
/** Attachments and step executions have no column for the project. */
const ATTACHMENTS = sql`
  sets as (
    select distinct c.attachment_set_id as id from email_content c join gone g on g.id = c.email_id
    where c.attachment_set_id is not null
  ),
  files as (delete from attachment a using sets s where a.set_id = s.id)`;
const STEPS = sql`steps as (delete from step_execution s using gone g where s.execution_id = g.id)`;

const ofProject = (...names: string[]): Deletion[] => names.map((table) => ({ table }));
/** The rows of a table that belong to a record `o` of the project. */
const through =
  (owner: string, key: string): Deletion['rows'] =>
  (projectId) =>
    sql`join ${new SqlFragment(owner)} o on o.id = ${new SqlFragment(key)} where o.project_id = ${projectId}`;

/**
 * The deletions of all rows of a project but its own. The outbox comes first, so that nothing new is started. Tables
 * with many rows come before the tables whose deletion would cascade to them.
 */
const DELETIONS: readonly Deletion[] = [
  ...ofProject('outbox', 'event_wait'),
  { table: 'automation_execution', also: sql`${STEPS}, ${TRACES}` },
  ...ofProject('automation_refusal'),
  { table: 'webhook_delivery', rows: through('webhook_endpoint', 'r.endpoint_id') },
  ...ofProject('webhook_endpoint', 'webhook_feed'),
  { table: 'segment_member', rows: through('segment', 'r.segment_id') },
  ...ofProject('segment'),
  { table: 'topic_subscription', rows: through('topic', 'r.topic_id') },
  ...ofProject('topic'),
  { table: 'email', also: sql`${ATTACHMENTS}, ${TRACES}`, chunk: EMAIL_CHUNK },
  { table: 'event', also: TRACES },
  ...ofProject('event_name'),
  { table: 'campaign', also: TRACES },
  ...ofProject('automation'),
  // The deletion of executions leaves counts for automations that are gone.
  {
    table: 'ended_execution_count',
    rows: () => sql`where not exists (select from automation a where a.id = r.automation_id)`,
  },
  ...ofProject('template'),
  { table: 'contact', also: CONSENTS },
  ...ofProject('imported_consent', 'opt_in', 'confirmation_mail', 'former_address', 'contact_field'),
  { table: 'erased_contact', also: CONSENTS, id: 'contact_id' },
  ...ofProject('suppression', 'reply_address', 'sender_domain'),
  { table: 'job', also: TRACES },
  ...ofProject('idempotency_claim', 'audit_entry', 'api_key', 'provider_day', 'rate_window', 'project_permit'),
  { table: 'allowance', rows: (projectId) => sql`where r.subject = ${projectSubject(projectId)}` },
];

/**
 * Runs a deletion. A full scan would come first on the rows of other projects, and again for each chunk.
 * @returns the number of deleted rows
 */
async function deleteChunk(em: Em, deletion: SqlFragment): Promise<number> {
  return inTransaction(em, async (tx) => {
    await query(tx, sql`select set_config('enable_seqscan', 'off', true)`);
    return queryCount(tx, deletion);
  });
}

/** Takes a project out of the days of warm-ups. What it has sent still counts, for nobody. */
async function leaveWarmUps(em: Em, projectId: string): Promise<void> {
  const sent = (who: string) => sql`coalesce((use #>> array['used', ${who}::text])::int, 0)`;
  await query(
    em,
    sql`
      update warm_up set use = jsonb_set(
        use #- array['used', ${projectId}::text] #- array['waits', ${projectId}::text],
        array['used', ${NOBODY}::text], to_jsonb(${sent(projectId)} + ${sent(NOBODY)}))
      where coalesce(use #> array['used', ${projectId}::text], use #> array['waits', ${projectId}::text]) is not null`,
  );
}

/** Deletes all rows of a project but its own, a chunk at a time. @returns how many, without rows deleted with others */
async function deleteRows(em: Em, projectId: string): Promise<number> {
  let total = 0;
  await leaveWarmUps(em, projectId);
  for (const deletion of DELETIONS) {
    for (;;) {
      const count = await deleteChunk(em, statementOf(deletion, projectId));
      if (count === 0) break;
      total += count;
    }
  }
  return total;
}

/** Waits until every transaction that is open now has ended, but not longer than `SETTLE_MS_MAX`. */
async function untilSettled(em: Em): Promise<void> {
  const openedBefore = await readClock(em);
  const deadline = performance.now() + SETTLE_MS_MAX;
  for (;;) {
    const open = await queryCount(
      em,
      sql`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
          and xact_start <= ${openedBefore}`,
    );
    if (open === 0 || performance.now() > deadline) return;
    await delay(SETTLE_POLL_MS);
  }
}

/** The workflows of a project. */
export interface WorkflowsToEnd {
  /** Ends those that run. @returns how many */
  end: () => Promise<number>;
  /** Whether one was ended before its time in the last `ms` milliseconds. */
  wereEndedWithin: (ms: number) => Promise<boolean>;
}

/**
 * Puts a project to rest, so that its rows stay as they are: requests are refused, links in its email lead nowhere, its
 * workflows are ended, and reconciliation starts none while it is disabled. Its executions go on when it is enabled.
 */
export async function restProject(em: Em, projectId: string, workflows: WorkflowsToEnd): Promise<void> {
  await query(em, sql`update project set disabled = true, updated_at = now() where id = ${projectId}`);
  // Attempts go on sending for a while after their workflows, also after those that an interrupted call has ended.
  let maySend = await workflows.wereEndedWithin(ATTEMPT_ENDS_MS);
  for (let ended = 1; ended > 0; maySend = false) {
    await query(em, sql`delete from outbox where project_id = ${projectId}`);
    ended = await workflows.end();
    if (ended > 0 || maySend) await delay(ATTEMPT_ENDS_MS);
    await untilSettled(em);
  }
}

/**
 * Deletes a project and everything that belongs to it, for good. Requests are refused from the beginning, and the links
 * in its email stay blocked. Each chunk is a transaction of its own: after an interruption, another call deletes the
 * rest. The second round finds rows that were written by transactions that were open during the first one.
 * @param endWorkflows ends the running workflows of the project
 * @returns how many rows were deleted, without those that were deleted with others, such as attachments and steps
 */
export async function deleteProject(em: Em, projectId: string, endWorkflows: () => Promise<unknown>): Promise<number> {
  await query(em, sql`update project set disabled = true, updated_at = now() where id = ${projectId}`);
  await query(em, statementOf({ table: 'outbox' }, projectId));
  await endWorkflows();
  let rows = await deleteRows(em, projectId);
  await query(
    em,
    sql`
      with gone as (delete from project where id = ${projectId} returning id)
      insert into blocked_link (subject) select id::text from gone on conflict do nothing`,
  );
  await untilSettled(em);
  await endWorkflows();
  rows += await deleteRows(em, projectId);
  return rows;
}
