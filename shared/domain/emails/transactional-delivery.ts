import { OPEN_EMAIL_STATUSES, type EmailStatus } from '../../pure/emails/email-types.ts';
import { REMAINING_MS, resultEvents } from './delivery-results.ts';
import { emailStatus, emailType } from '../../database/constants.ts';
import { columnsOf, query, queryPrepared, sql, literalList, type SqlFragment, type Em } from '../../database/sql.ts';
import { mayReceive } from '../consent/consent.ts';
import { boolean, notNull, number, pick, tables, type RowOf } from '../../database/tables.ts';
import { suppressionJoin } from '../suppressions/suppressions.ts';

/** An email as stored when it was queued, ready to be composed. */
const STORED_EMAIL = {
  emailId: tables.email.id,
  toAddress: notNull(tables.email.toAddress),
  contactId: tables.email.contactId,
  ...pick(tables.emailContent, 'toName', 'fromAddress', 'fromName', 'replyTo', 'html', 'headers', 'attachmentSetId'),
  addressed: tables.emailContent.addressed,
  subject: notNull(tables.email.subject),
  isMarketing: boolean,
  text: tables.emailContent.bodyText,
  ...pick(tables.email, 'deferrals', 'uncertainAttempts', 'heldAt', 'answered', 'createdAt', 'scheduledAt'),
};
export type StoredEmail = RowOf<typeof STORED_EMAIL>;

const STORED_ATTACHMENT = pick(
  tables.attachment,
  ...(['setId', 'filename', 'content', 'contentType', 'contentId', 'disposition', 'submission'] as const),
);
export type StoredAttachment = RowOf<typeof STORED_ATTACHMENT>;

/** An email that this attempt may send. */
const CLAIMED_EMAIL = {
  id: tables.email.id,
  bodyBytes: number,
  attachmentSetId: tables.emailContent.attachmentSetId,
  attachmentBytes: number,
};
export type ClaimedEmail = RowOf<typeof CLAIMED_EMAIL>;

/** One attempt of one delivery. */
export interface DeliveryClaim {
  deliveryId: string;
  claimToken: string;
}

/** Whether an email may be sent by a delivery. An email that was redelivered belongs only to its new delivery. */
function belongsTo(deliveryId: string, email = sql`e`): SqlFragment {
  return sql`(${email}.delivery_id is null or ${email}.delivery_id = ${deliveryId}::uuid)`;
}

/**
 * Claims emails for one attempt of a delivery: those to be sent now, and those that a dead attempt left without a
 * result. If the older attempt is still alive, the token keeps it from recording anything. An email to a suppressed
 * address becomes SUPPRESSED instead, with an event. An email of a deleted contact becomes CANCELLED, as does one whose
 * content was erased with another contact.
 * @returns the claimed emails, with their size in memory
 */
export async function claimEmails(
  em: Em,
  emailIds: string[],
  { deliveryId, claimToken }: DeliveryClaim,
): Promise<ClaimedEmail[]> {
  return queryPrepared(
    em,
    sql`
      with held as materialized (
        select w.id, s.reason,
          case
            when not ${belongsTo(deliveryId, sql`w`)} or w.retry_at > now() or w.status not in ${literalList(OPEN_EMAIL_STATUSES)} then null
            when w.to_address is null
              or w.contact_id is not null and (select c.id from contact c where c.id = w.contact_id) is null
              or (select b.email_id from email_content b where b.email_id = w.id) is null then 'cancelled'
            when ${mayReceive('transactional')} then 'claimed' else 'suppressed' end as verdict
        from email w ${suppressionJoin(sql`w.project_id`, sql`w.to_address`)}
        where w.id = any(${emailIds}::uuid[]) order by w.id for no key update of w
      ),
      changed as (
        update email e set
          status = case w.verdict when 'claimed' then ${emailStatus.SENDING} when 'suppressed' then ${emailStatus.SUPPRESSED} else ${emailStatus.CANCELLED} end,
          claim_token = case w.verdict when 'claimed' then ${claimToken}::uuid end, error = w.reason,
          delivery_id = ${deliveryId}::uuid,
          delivery_due_at = case w.verdict when 'claimed' then e.delivery_due_at end
        from held w
        where e.id = w.id and e.id = any(${emailIds}::uuid[]) and w.verdict is not null
        returning e.*, w.verdict
      ),
      ${resultEvents()}
      select changed.id, octet_length(c.html) + octet_length(c.body_text) as "bodyBytes",
        c.attachment_set_id as "attachmentSetId", coalesce((
          select sum(octet_length(a.content)) from attachment a where a.set_id = c.attachment_set_id
        ), 0)::int as "attachmentBytes"
      from changed join email_content c on c.email_id = changed.id where verdict = 'claimed' order by changed.id`,
    CLAIMED_EMAIL,
  );
}

/** The emails of a delivery that have no outcome yet, including those that joined it. */
export async function findOpenEmails(em: Em, deliveryId: string): Promise<string[]> {
  const rows = await queryPrepared(
    em,
    sql`select id from email where delivery_id = ${deliveryId} and delivery_due_at is not null order by id`,
    { id: tables.email.id },
  );
  return rows.map(({ id }) => id);
}

/** Makes claimed emails PENDING again that were not handed to a server. */
export async function releaseEmails(em: Em, emailIds: string[], claimToken: string): Promise<void> {
  await query(
    em,
    sql`
      update email set status = ${emailStatus.PENDING}, claim_token = null
      where id = any(${emailIds}::uuid[]) and claim_token = ${claimToken} and status = ${emailStatus.SENDING}`,
  );
}

/** The content of emails, in the order they were queued. */
export async function loadEmails(em: Em, emailIds: string[]): Promise<StoredEmail[]> {
  return queryPrepared(
    em,
    sql`
      select e.id as "emailId", e.to_address as "toAddress", e.contact_id as "contactId", c.to_name as "toName", c.from_address as "fromAddress",
        c.from_name as "fromName", c.reply_to as "replyTo", e.subject, c.html, c.body_text as text, c.headers,
        c.attachment_set_id as "attachmentSetId", c.addressed, e.scheduled_at as "scheduledAt", e.deferrals, e.uncertain_attempts as "uncertainAttempts",
        e.held_at as "heldAt", e.answered, e.created_at as "createdAt",
        exists (select from template t where t.id = e.template_id and t.type = ${emailType.MARKETING}) as "isMarketing"
      from email e join email_content c on c.email_id = e.id
      where e.id = any(${emailIds}::uuid[]) and c.email_id = any(${emailIds}::uuid[]) order by e.id`,
    STORED_EMAIL,
  );
}

/** The files of attachment sets, by set. */
export async function loadAttachments(
  em: Em,
  setIds: readonly string[],
): Promise<ReadonlyMap<string, StoredAttachment[]>> {
  if (setIds.length === 0) return new Map();
  const files = await queryPrepared(
    em,
    sql`
      select ${columnsOf(STORED_ATTACHMENT)} from attachment
      where set_id = any(${setIds}::uuid[]) order by set_id, position`,
    STORED_ATTACHMENT,
  );
  return Map.groupBy(files, ({ setId }) => setId);
}

/** Makes emails FAILED that have waited so long that nobody needs them any more. */
export async function abandonEmails(em: Em, emailIds: string[], deliveryId: string, reason: string): Promise<void> {
  await query(
    em,
    sql`
      with changed as (
        update email e set status = ${emailStatus.FAILED}, error = ${reason},
          claim_token = null, delivery_due_at = null
        where id = any(${emailIds}::uuid[]) and status in ${literalList(OPEN_EMAIL_STATUSES)}
          and ${belongsTo(deliveryId)}
        returning e.*, 'failed' as verdict
      ),
      ${resultEvents()}
      select`,
  );
}

/** How many emails of a delivery have each status. */
export type StatusCounts = Partial<Record<EmailStatus, number>>;

interface DeliveryProgress {
  /** The emails that the delivery still has to send, and how long each must wait before its next attempt. */
  pending: { id: string; waitMs: number }[];
  /** The other emails. */
  ended: StatusCounts;
}

/** Reads how far a delivery has come with some emails. */
export async function readDeliveryProgress(em: Em, emailIds: string[], deliveryId: string): Promise<DeliveryProgress> {
  const rows = await queryPrepared(
    em,
    sql`
      select id, status, status = ${emailStatus.PENDING} and ${belongsTo(deliveryId)} as "isPending", ${REMAINING_MS} as "waitMs"
      from email e where id = any(${emailIds}::uuid[]) order by id`,
    { id: tables.email.id, status: tables.email.status, isPending: boolean, waitMs: number },
  );
  const ended: StatusCounts = {};
  for (const { status, isPending } of rows) {
    if (!isPending) ended[status] = (ended[status] ?? 0) + 1;
  }
  return { pending: rows.filter(({ isPending }) => isPending), ended };
}
