import { setTimeout as delay } from 'node:timers/promises';
import { projectSubject } from '../../sending/permit/shaping.ts';
import type { Em } from '../../database/em.ts';
import { query, queryOne, sql, type SqlFragment } from '../../database/sql.ts';
import { date, number } from '../../database/tables.ts';
import { ATTEMPT_ENDS_MS } from '../emails/orphaned-deliveries.ts';
import { inTransaction } from '../../database/transaction.ts';

/** Rows that one statement deletes. It takes well under a second, so others do not wait long for its locks. */
const CHUNK = 5_000;
/** Emails that one statement deletes, with their contents and attachments. */
const EMAIL_CHUNK = 500;

/** Longest wait for transactions that were open when the project was deleted, and may have written rows of it. */
const SETTLE_MS_MAX = 60_000;
const SETTLE_POLL_MS = 200;

type Deletion = (projectId: string) => SqlFragment;

/** Deletes a chunk of the rows of a table that `rows` selects. */
function chunkOf(table: SqlFragment, rows: SqlFragment): SqlFragment {
  return sql`
    with gone as (
      delete from ${table} where ctid = any(array(select r.ctid ${rows} limit ${CHUNK})) returning 1
    ) select count(*)::int as count from gone`;
}

/** What belongs to traces of requests has no column for the project, so it is deleted with what the requests made. */
const TRACES = sql`traces as (delete from trace_context t using gone g where t.subject_id = g.id)`;

const ofProject =
  (table: SqlFragment): Deletion =>
  (projectId) =>
    chunkOf(table, sql`from ${table} r where r.project_id = ${projectId}`);

const tracedOfProject =
  (table: SqlFragment): Deletion =>
  (projectId) => sql`
    with gone as (
      delete from ${table}
      where ctid = any(array(select ctid from ${table} where project_id = ${projectId} limit ${CHUNK})) returning id
    ),
    ${TRACES}
    select count(*)::int as count from gone`;

/** Attachments have no column for the project, so they are deleted with their emails. */
const deleteEmails: Deletion = (projectId) => sql`
  with gone as (
    delete from email
    where ctid = any(array(select ctid from email where project_id = ${projectId} limit ${EMAIL_CHUNK})) returning id
  ),
  sets as (
    select distinct c.attachment_set_id as id from email_content c join gone g on g.id = c.email_id
    where c.attachment_set_id is not null
  ),
  files as (delete from attachment a using sets s where a.set_id = s.id),
  ${TRACES}
  select count(*)::int as count from gone`;

/** The record of consent has no index for the project, so it is deleted with the contacts. */
const contactsOf =
  (table: SqlFragment, id: SqlFragment): Deletion =>
  (projectId) => sql`
    with gone as (
      delete from ${table} where ctid = any(array(select ctid from ${table} where project_id = ${projectId} limit ${CHUNK}))
      returning ${id} as id
    ),
    consents as (delete from consent_record r using gone g where r.contact_id = g.id),
    opt_ins as (delete from opt_in o using gone g where o.contact_id = g.id)
    select count(*)::int as count from gone`;

/** Step executions have no column for the project, so they are deleted with their executions. */
const deleteExecutions: Deletion = (projectId) => sql`
  with gone as (
    delete from automation_execution
    where ctid = any(array(select ctid from automation_execution where project_id = ${projectId} limit ${CHUNK}))
    returning id
  ),
  steps as (delete from step_execution s using gone g where s.execution_id = g.id),
  ${TRACES}
  select count(*)::int as count from gone`;

/**
 * The deletions of all rows of a project but its own. The outbox comes first, so that nothing new is started. Tables
 * with many rows come before the tables whose deletion would cascade to them.
 */
const DELETIONS: readonly Deletion[] = [
  ofProject(sql`outbox`),
  ofProject(sql`event_wait`),
  deleteExecutions,
  ofProject(sql`automation_refusal`),
  (projectId) =>
    chunkOf(
      sql`webhook_delivery`,
      sql`from webhook_delivery r join webhook_endpoint e on e.id = r.endpoint_id where e.project_id = ${projectId}`,
    ),
  ofProject(sql`webhook_endpoint`),
  ofProject(sql`webhook_feed`),
  (projectId) =>
    chunkOf(
      sql`segment_member`,
      sql`from segment_member r join segment s on s.id = r.segment_id where s.project_id = ${projectId}`,
    ),
  ofProject(sql`segment`),
  (projectId) =>
    chunkOf(
      sql`topic_subscription`,
      sql`from topic_subscription r join topic t on t.id = r.topic_id where t.project_id = ${projectId}`,
    ),
  ofProject(sql`topic`),
  deleteEmails,
  tracedOfProject(sql`event`),
  ofProject(sql`event_name`),
  tracedOfProject(sql`campaign`),
  ofProject(sql`automation`),
  // The deletion of executions leaves counts for automations that are gone.
  () =>
    chunkOf(
      sql`ended_execution_count`,
      sql`from ended_execution_count r where not exists (select from automation a where a.id = r.automation_id)`,
    ),
  ofProject(sql`template`),
  contactsOf(sql`contact`, sql`id`),
  ofProject(sql`imported_consent`),
  ofProject(sql`opt_in`),
  ofProject(sql`confirmation_mail`),
  ofProject(sql`former_address`),
  ofProject(sql`contact_field`),
  contactsOf(sql`erased_contact`, sql`contact_id`),
  ofProject(sql`suppression`),
  ofProject(sql`reply_address`),
  ofProject(sql`sender_domain`),
  tracedOfProject(sql`job`),
  ofProject(sql`idempotency_claim`),
  ofProject(sql`audit_entry`),
  ofProject(sql`api_key`),
  ofProject(sql`provider_day`),
  ofProject(sql`rate_window`),
  ofProject(sql`project_permit`),
  (projectId) => chunkOf(sql`allowance`, sql`from allowance r where r.subject = ${projectSubject(projectId)}`),
];

/**
 * Runs a deletion. A full scan would come first on the rows of other projects, and again for each chunk.
 * @returns the number of deleted rows
 */
async function deleteChunk(em: Em, deletion: SqlFragment): Promise<number> {
  return inTransaction(em, async (tx) => {
    await query(tx, sql`select set_config('enable_seqscan', 'off', true)`);
    return (await queryOne(tx, deletion, { count: number }))?.count ?? 0;
  });
}

/** Deletes all rows of a project but its own, a chunk at a time. @returns how many, without rows deleted with others */
async function deleteRows(em: Em, projectId: string): Promise<number> {
  let total = 0;
  for (const deletion of DELETIONS) {
    for (;;) {
      const count = await deleteChunk(em, deletion(projectId));
      if (count === 0) break;
      total += count;
    }
  }
  return total;
}

/** Waits until every transaction that is open now has ended, but not longer than `SETTLE_MS_MAX`. */
async function untilSettled(em: Em): Promise<void> {
  const clock = await queryOne(em, sql`select clock_timestamp() as now`, { now: date });
  const deadline = performance.now() + SETTLE_MS_MAX;
  for (;;) {
    const row = await queryOne(
      em,
      sql`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
          and xact_start <= ${clock?.now ?? new Date()}`,
      { count: number },
    );
    if ((row?.count ?? 0) === 0 || performance.now() > deadline) return;
    await delay(SETTLE_POLL_MS);
  }
}

/**
 * Puts a project to rest, so that its rows stay as they are: requests are refused, links in its email lead nowhere, its
 * workflows are ended, and reconciliation starts none while it is disabled. Its executions go on when it is enabled.
 * @param endWorkflows ends the running workflows of the project. @returns how many
 */
export async function restProject(em: Em, projectId: string, endWorkflows: () => Promise<number>): Promise<void> {
  await query(em, sql`update project set disabled = true, updated_at = now() where id = ${projectId}`);
  for (let ended = 1; ended > 0;) {
    await query(em, sql`delete from outbox where project_id = ${projectId}`);
    ended = await endWorkflows();
    // Attempts go on sending for a while after their workflows.
    if (ended > 0) await delay(ATTEMPT_ENDS_MS);
    await untilSettled(em);
  }
}

/**
 * Deletes a project and everything that belongs to it, for good. Requests are refused from the beginning, and the links
 * in its email stay blocked. Each chunk is
 * a transaction of its own: after an interruption, another call deletes the rest. The second round finds rows that were
 * written by transactions that were open during the first one.
 * @param endWorkflows ends the running workflows of the project
 * @returns how many rows were deleted, without those that were deleted with others, such as attachments and steps
 */
export async function deleteProject(em: Em, projectId: string, endWorkflows: () => Promise<unknown>): Promise<number> {
  await query(em, sql`update project set disabled = true, updated_at = now() where id = ${projectId}`);
  await query(em, ofProject(sql`outbox`)(projectId));
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
