import { createHash } from 'node:crypto';
import { emailStatusesBelow, REPORTABLE_STATUSES, type HandedOverStatus } from '../../pure/emails/email-types.ts';
import { lockRecipients } from '../contacts/contact-locks.ts';
import { setSubscribed } from '../contacts/contacts.ts';
import {
  isoText,
  json,
  literalList,
  query,
  queryOne,
  queryPrepared,
  sql,
  inTransaction,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { nullable, tables, text, type RowOf } from '../../database/tables.ts';
import { recordedEmailEvents } from '../events/email-events.ts';
import { suppressRecipients } from '../suppressions/suppressions.ts';
import { recipientProviderOf } from '../../sending/verdict/recipient-provider.ts';
import type { RecordedRefusal } from '../../sending/ports.ts';
import { isReputation } from '../../sending/verdict/refusal-signs.ts';
import { applyHardBounces } from './hard-bounces.ts';
import { countReport } from './source-days.ts';

/** What the report of a mail server or a mailbox provider changes in an email. */
interface StatusChange {
  column: SqlFragment;
  counter: SqlFragment;
  /** The new status. An email that has it or a later one keeps its status, and only the moment is stored. */
  to: HandedOverStatus;
  event: string;
  /** The field of the event that has the moment. */
  moment?: string;
}

const DELIVERED: StatusChange = {
  column: sql`delivered_at`,
  counter: sql`delivered_count`,
  to: 'DELIVERED',
  event: 'email.delivery',
  moment: 'deliveredAt',
};
const BOUNCED: StatusChange = {
  column: sql`bounced_at`,
  counter: sql`bounced_count`,
  to: 'BOUNCED',
  event: 'email.bounce',
};
const COMPLAINED: StatusChange = {
  column: sql`complained_at`,
  counter: sql`complained_count`,
  to: 'COMPLAINED',
  event: 'email.complaint',
  moment: 'complainedAt',
};

const REPORTABLE = literalList(REPORTABLE_STATUSES);

const NOW_TEXT = isoText(sql`now()`);

const CHANGED_EMAIL = {
  project_id: tables.email.projectId,
  contact_id: tables.email.contactId,
  to_address: tables.email.toAddress,
  carrier: tables.email.carrier,
};
type ChangedEmail = RowOf<typeof CHANGED_EMAIL>;

/**
 * A statement that applies a change to emails. The first change of its kind sets the moment, counts in the campaign and
 * is recorded as an event; repeats do nothing. An email whose contact was erased gets no event.
 * @param reported a select of the ids of the emails
 * @param result a select from `reported` or `changed`
 */
function statusChangeStatement(
  reported: SqlFragment,
  change: StatusChange,
  data: Record<string, unknown>,
  result: SqlFragment,
): SqlFragment {
  const moment =
    change.moment === undefined ? sql`'{}'::jsonb` : sql`jsonb_build_object(${change.moment}::text, ${NOW_TEXT})`;
  return sql`
    with reported as materialized (${reported}),
    changed as (
      update email e set ${change.column} = now(),
        status = case when e.status in ${literalList(emailStatusesBelow(change.to))} then ${change.to} else e.status end
      from reported r where e.id = r.id and e.${change.column} is null and e.status in ${REPORTABLE} returning e.*
    ),
    ${recordedEmailEvents({
      emails: sql`changed`,
      name: sql`${change.event}`,
      details: sql`${moment} || ${json(data)}::jsonb`,
      where: sql`true`,
    })},
    counts as (select campaign_id as id, count(*)::int as count from changed where campaign_id is not null group by 1),
    campaigns as materialized (
      select c.id, n.count from campaign c join counts n on n.id = c.id order by c.id for no key update of c
    ),
    counted as (
      update campaign c set ${change.counter} = c.${change.counter} + n.count from campaigns n where c.id = n.id
    )
    ${result}`;
}

/** Applies a change to one email. @returns the email; undefined when this was not the first report of its kind */
async function applyStatusChange(
  em: Em,
  emailId: string,
  change: StatusChange,
  data: Record<string, unknown>,
): Promise<ChangedEmail | undefined> {
  const [email] = await queryPrepared(
    em,
    statusChangeStatement(
      sql`select ${emailId}::uuid as id`,
      change,
      data,
      sql`select project_id, contact_id, to_address, carrier from changed`,
    ),
    CHANGED_EMAIL,
  );
  return email;
}

/** Records that a server delivered the email to the mailbox. */
export async function recordDelivery(em: Em, emailId: string): Promise<void> {
  await applyStatusChange(em, emailId, DELIVERED, {});
}

/**
 * As `recordDelivery`, for any number of emails in one statement. Emails that another transaction has locked are left
 * out: to wait for several rows while their sending is recorded could end in a deadlock.
 * @returns for each email whether its delivery was recorded, now or before
 */
export async function recordDeliveries(em: Em, emailIds: string[]): Promise<boolean[]> {
  const reported = await queryPrepared(
    em,
    statusChangeStatement(
      sql`select id from email where id = any(${emailIds}::uuid[]) for no key update skip locked`,
      DELIVERED,
      {},
      sql`select id from reported`,
    ),
    { id: tables.email.id },
  );
  const recorded = new Set(reported.map((email) => email.id));
  return emailIds.map((emailId) => recorded.has(emailId));
}

/** The failure of an email that a report names, and how it was judged. */
export interface ReportedFailure extends RecordedRefusal {
  /** The server's own text. */
  diagnostic: string;
}

/** Records that the address is permanently dead: it is suppressed, and its contact is unsubscribed. */
export async function recordHardBounce(em: Em, emailId: string, failure: ReportedFailure): Promise<void> {
  const { diagnostic, ...refusal } = failure;
  const { rule, server } = refusal;
  await inTransaction(em, async (tx) => {
    await lockRecipients(tx, [emailId]);
    const email = await applyStatusChange(tx, emailId, BOUNCED, { bounceType: 'hard', diagnostic, rule, server });
    if (!email) return;
    await query(
      tx,
      sql`
        update email set error = ${diagnostic}, refusal = ${json(refusal)}::jsonb
        where id = ${emailId} and to_address is not null`,
    );
    await applyHardBounces(tx, email.project_id, [{ emailId, contactId: email.contact_id }]);
    if (email.carrier !== null) await countReport(tx, email.carrier, { refusedMailbox: 1 });
  });
}

/**
 * Records that the recipient reported the email as spam. The recipient gets no more email of any kind.
 * @param isCounted whether it counts in complaint rates, where each recipient counts once a week: not when it is
 *   simulated, or when nothing proves who sent the report
 */
export async function recordComplaint(em: Em, emailId: string, { isCounted = true } = {}): Promise<void> {
  await inTransaction(em, async (tx) => {
    await lockRecipients(tx, [emailId]);
    const email = await applyStatusChange(tx, emailId, COMPLAINED, {});
    if (!email) return;
    await suppressRecipients(tx, [emailId], 'COMPLAINT');
    if (email.contact_id !== null) {
      await setSubscribed(tx, email.project_id, [email.contact_id], false, { reason: 'complaint', emailId });
    }
    if (email.to_address === null || !isCounted || (await hasComplainedBefore(tx, emailId, email))) return;
    const complaint = { projectId: email.project_id, provider: recipientProviderOf(email.to_address) };
    await countReport(tx, email.carrier, { complaints: 1 }, complaint);
  });
}

/** Whether the recipient of an email has complained about another email of the project within a week. */
async function hasComplainedBefore(tx: Em, emailId: string, email: ChangedEmail): Promise<boolean> {
  const ofRecipient =
    email.contact_id === null
      ? sql`project_id = ${email.project_id} and to_address = ${email.to_address}`
      : sql`contact_id = ${email.contact_id}`;
  const earlier = await queryOne(
    tx,
    sql`
      select from email
      where ${ofRecipient} and id <> ${emailId} and complained_at > now() - interval '7 days' limit 1`,
    {},
  );
  return earlier !== undefined;
}

/** An event id derived from the report, so that the same report twice is one event (RFC 9562 version 8). */
function derivedId(...parts: string[]): string {
  const digest = createHash('sha256').update(parts.join('\0')).digest('hex');
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5');
}

/** A report or a reply that arrives twice is one event, because both have the same derived id. */
const ONCE = sql`on conflict (id) do nothing`;

/**
 * Most events of one name about one email. Anybody who has seen its envelope sender can forge any number of reports.
 */
const REPORTS_PER_EMAIL_MAX = 5;
const REPLIES_PER_EMAIL_MAX = 50;

/** Whether an email `m` was handed over to a known contact and has had fewer events of a name than `max`. */
function canBeReported(name: string, max: number): SqlFragment {
  return sql`
    m.contact_id is not null and m.status in ${REPORTABLE} and (select count(*) from (
      select from event e where e.contact_id = m.contact_id and e.name = ${name} and e.email_id = m.id limit ${max}
    ) earlier) < ${max}::int`;
}

/**
 * Records that a server did not accept the email this time; the address stays usable.
 * @param reportId the same for each copy of a report
 */
export async function recordSoftBounce(
  em: Em,
  emailId: string,
  { diagnostic, rule, server }: ReportedFailure,
  reportId: string,
): Promise<void> {
  await inTransaction(em, async (tx) => {
    const first = await queryOne(
      tx,
      sql`
        with ${recordedEmailEvents({
          emails: sql`email`,
          id: sql`${derivedId('soft bounce', emailId, reportId)}::uuid`,
          name: sql`'email.bounce'`,
          details: sql`${json({ bounceType: 'soft', diagnostic, rule, server })}::jsonb`,
          where: sql`m.id = ${emailId} and ${canBeReported('email.bounce', REPORTS_PER_EMAIL_MAX)}`,
          onConflict: ONCE,
        })}
        update email set answered = coalesce(answered, '{}') || '{"isReported": true}'
        where id = ${emailId} and carrier is not null and status in ${REPORTABLE} and answered -> 'isReported' is null
        returning carrier`,
      { carrier: tables.email.carrier },
    );
    if (first) await countReport(tx, first.carrier, { [isReputation(rule) ? 'refusedReputation' : 'refusedOther']: 1 });
  });
}

/** A message with which somebody answers an email. */
export interface Reply {
  /** The same for each copy of the message. */
  id: string;
  from: string;
  to: string;
  subject: string;
}

/** The address that an email went to, lower-cased; undefined when it is not known any more. */
export async function findEmailAddress(em: Em, emailId: string): Promise<string | undefined> {
  const email = await queryOne(em, sql`select lower(to_address) as address from email where id = ${emailId}`, {
    address: nullable(text),
  });
  return email?.address ?? undefined;
}

/** Records that somebody answered an email. */
export async function recordReply(em: Em, emailId: string, reply: Reply): Promise<void> {
  const words = { subject: reply.subject, from: reply.from, to: reply.to };
  await query(
    em,
    sql`
      with ${recordedEmailEvents({
        emails: sql`email`,
        id: sql`${derivedId('reply', emailId, reply.id)}::uuid`,
        name: sql`'email.received'`,
        details: sql`${json(words)}::jsonb || jsonb_build_object('receivedAt', ${NOW_TEXT})`,
        where: sql`m.id = ${emailId} and ${canBeReported('email.received', REPLIES_PER_EMAIL_MAX)}`,
        onConflict: ONCE,
      })}
      select`,
  );
}

/**
 * Finds the email of a project that a message answers: the last of the emails whose Message-IDs the message names. The
 * recipient of an email knows its Message-ID, while the From field of a message proves nothing.
 * @param emailIds in the order in which the message names them
 */
export async function findRepliedEmail(em: Em, projectId: string, emailIds: string[]): Promise<string | undefined> {
  const email = await queryOne(
    em,
    sql`
      select id from email
      where id = any(${emailIds}::uuid[]) and project_id = ${projectId} and contact_id is not null
        and status in ${REPORTABLE}
      order by array_position(${emailIds}::uuid[], id) desc limit 1`,
    { id: tables.email.id },
  );
  return email?.id;
}
