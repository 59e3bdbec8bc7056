import { remainingMs, type Hold } from '../../pure/emails/hold.ts';
import { HANDED_OVER_STATUSES } from '../../pure/emails/email-types.ts';
import { lockRecipients } from '../contacts/contact-locks.ts';
import { emailStatus } from '../../database/constants.ts';
import {
  isoText,
  json,
  joinSql,
  literalList,
  queryPrepared,
  sql,
  SqlFragment,
  storableText,
  inTransaction,
  type Em,
} from '../../database/sql.ts';
import { oneOf, tables, type RowOf } from '../../database/tables.ts';
import { recordedEmailEvents, type EmailHeading } from '../events/email-events.ts';
import type { DeliveryResult } from '../../sending/ports.ts';
import { PUT_OFF } from '../../sending/verdict/delivery-result.ts';
import { applyHardBounces, type BouncedEmail } from './hard-bounces.ts';

const RECORDED_RESULT = {
  email_id: tables.email.id,
  contact_id: tables.email.contactId,
  verdict: oneOf('failed', 'deferred', 'sent', 'bounced', 'uncertain', 'held', 'skipped', 'suppressed'),
};
export type RecordedResult = RowOf<typeof RECORDED_RESULT>;

const ERROR_LENGTH_MAX = 500;

function storableOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : storableText(text);
}

/** The spread of the ends of holds, so that held emails do not all return at once. */
const HELD_SPREAD_MS = 1_000;

function heldMs(hold: Hold): number {
  return remainingMs(hold, Date.now()) + Math.random() * HELD_SPREAD_MS;
}

/** Results as a table `r` of a statement. */
export function resultTable(results: DeliveryResult[]): SqlFragment {
  // In the order in which emails are locked: PostgreSQL updates so few rows one by one.
  const rows = [...results].sort((left, right) => (left.emailId < right.emailId ? -1 : 1));
  return sql`
    unnest(
      ${rows.map((result) => result.emailId)}::uuid[], ${rows.map((result) => result.verdict)}::text[],
      ${rows.map(({ subject }) => storableOrNull(subject))}::text[],
      ${rows.map(({ error }) => storableOrNull(error?.slice(0, ERROR_LENGTH_MAX)))}::text[],
      ${rows.map((result) => (result.refusal ? json(result.refusal) : null))}::jsonb[],
      ${rows.map(({ server }) => storableOrNull(server))}::text[],
      ${rows.map(({ held }) => (held ? heldMs(held) : null))}::float8[],
      ${rows.map(({ held }) => held?.reason ?? null)}::text[], ${rows.map(({ carrier }) => carrier ?? null)}::text[],
      ${rows.map(({ answered }) => (answered ? json(answered) : null))}::jsonb[],
      ${rows.map(({ held }) => held?.knownMs ?? null)}::float8[]
    ) as r (email_id, verdict, subject, error, refusal, server, held_ms, held_for, carrier, answered, known_ms)`;
}

/** A transaction takes less time. */
const SPREAD_SECONDS = 10;
const CHANGED_SINCE = sql`> to_timestamp(r.known_ms / 1000) - ${SPREAD_SECONDS}::int * interval '1 second'`;
/**
 * How long an email is held, in milliseconds, where the worker may have decided by what was so before a change; null for
 * others.
 */
const SHORT_HOLD_MS = sql`
  case when exists (select from project p where p.id = e.project_id and p.updated_at ${CHANGED_SINCE})
    or exists (select from source s where s.changed_at ${CHANGED_SINCE}) then 2000 end`;

/** When an email that was put off is due again; the pauses follow its deferrals. */
function retryAt(retrySeconds: readonly number[]): SqlFragment {
  return sql`
    case when r.verdict = 'held' then now() + least(r.held_ms, ${SHORT_HOLD_MS}) * interval '1 millisecond'
      when r.verdict in ('deferred', 'uncertain')
      then now() + coalesce((${[...retrySeconds]}::float8[])[e.deferrals + 1], 0) * interval '1 second' end`;
}

/** How long an email `e` must still wait before it is tried again, in milliseconds. */
export const REMAINING_MS = sql`
  greatest(0, ceil(extract(epoch from coalesce(e.retry_at, now()) - now()) * 1000))::float8`;

/** The latest status that was reported before the sending of an email was recorded: its column has the moment. */
const REPORTED_BEFORE = joinSql(
  HANDED_OVER_STATUSES.filter((status) => status !== 'SENT')
    .toReversed()
    .map((status) => new SqlFragment(`when e.${status.toLowerCase()}_at is not null then '${status}'`)),
  ' ',
);

/**
 * The `set` list of an update of `email e` from `resultTable`. An email that is tried again becomes PENDING. A delivery
 * report, or an open by a scanner, may have been recorded before the sending; the words of a bounce stay. An email whose
 * contact was erased meanwhile gets its outcome without texts, because the subject and the server's answer may name the person.
 * @param retrySeconds the pause after each deferral
 * @param pageClaim the claim of a page, which stays with an email that is tried again, so that it is put off once
 */
export function resultColumns(retrySeconds: readonly number[], pageClaim?: string): SqlFragment {
  return sql`
  status = case r.verdict
    when 'sent' then case ${REPORTED_BEFORE} else ${emailStatus.SENT} end
    when 'bounced' then ${emailStatus.BOUNCED} when 'failed' then ${emailStatus.FAILED}
    when 'skipped' then ${emailStatus.SKIPPED} when 'suppressed' then ${emailStatus.SUPPRESSED} else ${emailStatus.PENDING} end,
  deferrals = e.deferrals + (r.verdict in ('deferred', 'uncertain'))::int,
  uncertain_attempts = e.uncertain_attempts + (r.verdict = 'uncertain')::int,
  retry_at = ${retryAt(retrySeconds)},
  wait_reason = case when r.verdict = 'held' then r.held_for
    when r.verdict in ('deferred', 'uncertain') then 'deferred' end,
  held_at = case when r.held_for = 'provider paused' then coalesce(e.held_at, now())
    when r.held_for is null then e.held_at end,
  sent_at = case when r.verdict = 'sent' then now() else e.sent_at end,
  bounced_at = case when r.verdict = 'bounced' then now() else e.bounced_at end,
  subject = case when e.to_address is not null then coalesce(r.subject, e.subject) end,
  error = case when e.to_address is null then null
    when r.verdict = 'sent' and e.bounced_at is not null then e.error else r.error end,
  carrier = coalesce(r.carrier, e.carrier),
  answered = coalesce(r.answered, e.answered),
  refusal = case when e.to_address is not null then coalesce(r.refusal, e.refusal) end,
  attempts = case when e.to_address is null then null when r.server is null then e.attempts
    else coalesce(e.attempts, '[]') || jsonb_strip_nulls(jsonb_build_object('at', ${isoText(sql`now()`)},
      'verdict', r.verdict, 'server', nullif(r.server, ''), 'words', r.error,
      'nextAt', ${isoText(retryAt(retrySeconds))})) end,
  claim_token = case when r.verdict in ${literalList(PUT_OFF)} then ${pageClaim ?? null}::uuid end`;
}

/**
 * Records the `email.sent`, `email.bounce`, `email.failed` and `email.suppressed` events of the changed rows: common
 * table expressions over `changed`, which must have the columns of `email` plus `verdict`.
 */
export function resultEvents(heading?: EmailHeading): SqlFragment {
  return recordedEmailEvents({
    emails: sql`changed`,
    name: sql`case m.verdict when 'sent' then 'email.sent' when 'bounced' then 'email.bounce'
      when 'failed' then 'email.failed' else 'email.suppressed' end`,
    details: sql`case m.verdict
      when 'sent' then jsonb_build_object('sentAt', ${isoText(sql`now()`)})
      when 'bounced' then jsonb_build_object('bounceType', 'hard', 'diagnostic', m.error) || jsonb_strip_nulls(
        jsonb_build_object('rule', m.refusal ->> 'rule', 'server', m.refusal ->> 'server'))
      else jsonb_strip_nulls(jsonb_build_object(
        'reason', m.error, 'rule', m.refusal ->> 'rule', 'server', m.refusal ->> 'server')) end`,
    where: sql`m.verdict in ('sent', 'bounced', 'failed', 'suppressed')`,
    heading,
  });
}

/** Locks the contacts that hard bounces may change. The transaction must do that before it records the results. */
export async function lockBounced(tx: Em, results: DeliveryResult[]): Promise<void> {
  await lockRecipients(
    tx,
    results.filter((result) => result.verdict === 'bounced').map((result) => result.emailId),
  );
}

/** The recorded bounces, for `applyHardBounces`: the verdict `bounced` means a hard bounce. */
export function bouncedAmong(recorded: readonly RecordedResult[]): BouncedEmail[] {
  return recorded
    .filter((row) => row.verdict === 'bounced')
    .map((row) => ({ emailId: row.email_id, contactId: row.contact_id }));
}

/**
 * Records the results of transactional emails that this attempt claimed. Emails whose claim another attempt took over
 * do not change. A deferred email is due again after its pause in `retrySeconds`.
 */
export async function recordTransactionalResults(
  em: Em,
  projectId: string,
  claimToken: string,
  results: DeliveryResult[],
  retrySeconds: readonly number[],
): Promise<void> {
  const record = async (tx: Em): Promise<void> => {
    await lockBounced(tx, results);
    const recorded = await queryPrepared(
      tx,
      sql`
        with held as materialized (
          select id from email
          where id = any(${results.map(({ emailId }) => emailId)}::uuid[])
            and status = ${emailStatus.SENDING} and claim_token = ${claimToken}
          order by id for no key update
        ),
        changed as (
          update email e set ${resultColumns(retrySeconds)}, delivery_due_at = ${retryAt(retrySeconds)}
          from ${resultTable(results)}
          where e.id = r.email_id and e.id = any(array(select id from held))
          returning e.*, r.verdict
        ),
        ${resultEvents()}
        select id as email_id, contact_id, verdict from changed`,
      RECORDED_RESULT,
    );
    await applyHardBounces(tx, projectId, bouncedAmong(recorded));
  };
  // Without a bounce there is one statement, which needs no transaction around it.
  await (results.some(({ verdict }) => verdict === 'bounced') ? inTransaction(em, record) : record(em));
}
