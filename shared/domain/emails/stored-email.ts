import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import type { AddressedMessage, ColumnTypes } from '../../database/column-types.ts';
import { outboxInsert } from '../../durable/outbox/outbox.ts';
import { textValue } from '../../database/long-text.ts';
import { OCTETS_MAX } from '../../database/project-writer.ts';
import { emailStatus } from '../../database/constants.ts';
import { json, queryPrepared, sql, type SqlFragment, type Em } from '../../database/sql.ts';

export interface Mailbox {
  address: string;
  name?: string;
}

export interface EmailAttachment {
  filename: string;
  content: Buffer;
  contentType: string;
  contentId?: string;
  disposition: 'attachment' | 'inline';
}

/** One rendered email to one recipient. */
export interface RenderedEmail {
  emailId: string;
  /** Null for an address that is not a contact (a test send). */
  contactId: string | null;
  to: Mailbox;
  subject: string;
  html: string;
  text: string;
  headers: [string, string][];
  /** Whom the message is addressed to, if several recipients get it. */
  addressed?: AddressedMessage;
}

/** The fields that the emails of one request share. */
export interface EmailSender {
  templateId: string | null;
  /** What the emails are about. */
  topic: Pick<EmailTopic, 'id'> | null;
  /** The key of the request, if one sent it. */
  keyId?: string;
  from: Mailbox;
  replyTo?: string | undefined;
  /** The set of its files. */
  attachmentSetId?: string | null;
  tags?: string[] | undefined;
  /** When the emails are due, if not at once. */
  scheduledAt?: Date | undefined;
}

/** The fields that the emails of one call of `queueEmails` share. */
export interface EmailOrigin extends EmailSender {
  projectId: string;
  /** The execution that sends it. */
  execution?: { automationId: string; executionId: string };
}

/** A file of a set, which goes with the emails that name the set. */
export interface StoredFile extends EmailAttachment {
  setId: string;
  position: number;
  /** For a file that is the whole message. */
  submission?: ColumnTypes['attachment.submission'];
}

/**
 * Stores files of many octets, each alone, because a statement with all of them takes several times their memory.
 * @returns those that can go into the statement of their emails
 */
export async function storeLargeFiles(em: Em, files: StoredFile[]): Promise<StoredFile[]> {
  if (files.reduce((sum, { content }) => sum + content.length, 0) <= OCTETS_MAX) return files;
  for (const file of files) await queryPrepared(em, filesInsert([file]));
  return [];
}

function filesInsert(files: StoredFile[]): SqlFragment {
  return sql`
    insert into attachment (set_id, position, filename, content_type, content_id, disposition, content, submission)
    ${fileRows(files)}`;
}

/** A select of files. Their octets are one parameter, because the driver writes octets in arrays as hexadecimal text. */
function fileRows(files: StoredFile[]): SqlFragment {
  const contents = files.map(({ content }) => content);
  const octets = files.length === 1 ? contents[0] : Buffer.concat(contents);
  let end = 1;
  const starts = contents.map(({ length }) => (end += length) - length);
  return sql`
    select set_id, position, filename, content_type, content_id, disposition, substr(${octets}::bytea, start, length), submission
    from unnest(
      ${files.map(({ setId }) => setId)}::uuid[], ${files.map(({ position }) => position)}::int[],
      ${files.map(({ filename }) => filename)}::text[], ${files.map(({ contentType }) => contentType)}::text[],
      ${files.map(({ contentId }) => contentId ?? null)}::text[],
      ${files.map(({ disposition }) => disposition)}::text[], ${starts}::int[],
      ${contents.map(({ length }) => length)}::int[], ${files.map(({ submission }) => jsonOrNull(submission))}::jsonb[]
    ) as f (set_id, position, filename, content_type, content_id, disposition, start, length, submission)`;
}

export type SentEmail = RenderedEmail & { sender: EmailSender };

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : json(value));

/** A select of the emails. One email goes without arrays, because the driver escapes the texts of arrays. */
async function emailRows(tx: Em, emails: SentEmail[]): Promise<SqlFragment> {
  const [email] = emails;
  if (email && emails.length === 1) {
    const [html, text] = [await textValue(tx, email.html), await textValue(tx, email.text)];
    const { sender } = email;
    return sql`
      select ${email.emailId}::uuid as id, ${email.contactId}::uuid as contact_id, ${email.to.address}::text as to_address,
        ${email.to.name ?? null}::text as to_name, ${email.subject}::text as subject, ${html} as html,
        ${text} as body_text, ${json(email.headers)}::jsonb as headers, ${sender.templateId}::uuid as template_id,
        ${sender.topic?.id ?? null}::uuid as topic_id,
        ${sender.from.address}::text as from_address, ${sender.from.name ?? null}::text as from_name,
        ${sender.replyTo ?? null}::text as reply_to, ${sender.attachmentSetId ?? null}::uuid as attachment_set_id,
        ${jsonOrNull(sender.tags)}::jsonb as tags, ${sender.scheduledAt ?? null}::timestamptz as scheduled_at,
        ${jsonOrNull(email.addressed)}::jsonb as addressed,
        ${sender.keyId ?? null}::uuid as key_id`;
  }
  return sql`
    select * from unnest(
      ${emails.map(({ emailId }) => emailId)}::uuid[], ${emails.map(({ contactId }) => contactId)}::uuid[],
      ${emails.map(({ to }) => to.address)}::text[], ${emails.map(({ to }) => to.name ?? null)}::text[],
      ${emails.map(({ subject }) => subject)}::text[], ${emails.map(({ html }) => html)}::text[],
      ${emails.map(({ text }) => text)}::text[], ${emails.map(({ headers }) => json(headers))}::jsonb[],
      ${emails.map(({ sender }) => sender.templateId)}::uuid[],
      ${emails.map(({ sender }) => sender.topic?.id ?? null)}::uuid[], ${emails.map(({ sender }) => sender.from.address)}::text[],
      ${emails.map(({ sender }) => sender.from.name ?? null)}::text[],
      ${emails.map(({ sender }) => sender.replyTo ?? null)}::text[],
      ${emails.map(({ sender }) => sender.attachmentSetId ?? null)}::uuid[],
      ${emails.map(({ sender }) => jsonOrNull(sender.tags))}::jsonb[],
      ${emails.map(({ sender }) => sender.scheduledAt ?? null)}::timestamptz[],
      ${emails.map(({ addressed }) => jsonOrNull(addressed))}::jsonb[],
      ${emails.map(({ sender }) => sender.keyId ?? null)}::uuid[]
    ) as m (id, contact_id, to_address, to_name, subject, html, body_text, headers, template_id, topic_id, from_address,
      from_name, reply_to, attachment_set_id, tags, scheduled_at, addressed, key_id)`;
}

/** Stores rendered emails of one sender as PENDING and adds them to the outbox, in the caller's transaction. */
export async function queueEmails(em: Em, sender: EmailOrigin, emails: RenderedEmail[]): Promise<void> {
  const { projectId, execution } = sender;
  const sent = emails.map((email) => ({ ...email, sender }));
  await storeEmails(em, projectId, sent, { execution });
}

interface StoredWith {
  execution?: EmailOrigin['execution'];
  files?: StoredFile[];
  /** A `where` for all that is stored. */
  where?: SqlFragment;
  /** The id of the contact of an email, where a statement finds it in a table `rendered`. */
  contactId?: SqlFragment;
}

/** As `queueEmails`, for emails that each have a sender of their own, and with files. */
export async function storeEmails(em: Em, projectId: string, emails: SentEmail[], others: StoredWith): Promise<void> {
  await queryPrepared(em, sql`with ${await emailInserts(em, projectId, emails, others)} select`);
}

/** The common table expressions of `storeEmails`. */
export async function emailInserts(
  em: Em,
  projectId: string,
  emails: SentEmail[],
  { execution, files = [], where = sql``, contactId = sql`contact_id` }: StoredWith,
): Promise<SqlFragment> {
  const idsOf = (isScheduled: boolean) =>
    emails.filter(({ sender }) => (sender.scheduledAt !== undefined) === isScheduled).map(({ emailId }) => emailId);
  const ids = idsOf(false);
  const scheduledIds = idsOf(true);
  const queued = execution
    ? outboxInsert('automationEmail', projectId, ids, { isBatched: true })
    : outboxInsert('email', projectId, ids);
  const scheduled =
    scheduledIds.length === 0 ? sql`` : sql`scheduled as (${outboxInsert('scheduledEmail', projectId, scheduledIds)}),`;
  const stored = files.length === 0 ? sql`` : sql`stored as (${filesInsert(files)} ${where}),`;
  const rows = await emailRows(em, emails);
  return sql`
      rendered as (${rows} ${where}),
      record as (
        insert into email
          (id, project_id, contact_id, template_id, topic_id, automation_id, execution_id, to_address, subject, status, created_at,
            delivery_due_at, tags, scheduled_at, retry_at, delivery_id, key_id)
        select id, ${projectId}, ${contactId}, template_id, topic_id, ${execution?.automationId ?? null}::uuid,
          ${execution?.executionId ?? null}::uuid, to_address, subject, ${emailStatus.PENDING}, now(),
          coalesce(scheduled_at, now()), tags, scheduled_at, scheduled_at, case when scheduled_at is not null then id end, key_id
        from rendered
      ),
      ${scheduled}
      ${stored}
      queued as (${queued} ${where}),
      content as (
      insert into email_content
        (email_id, from_address, from_name, to_name, reply_to, html, body_text, headers, attachment_set_id, addressed, created_at)
      select id, from_address, from_name, to_name, reply_to, html, body_text, headers, attachment_set_id, addressed, now()
      from rendered
      )`;
}
