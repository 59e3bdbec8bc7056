import { v7 as uuidV7 } from 'uuid';
import type { Em } from '../database/em.ts';
import { outboxInsert } from '../outbox/outbox.ts';
import { json, query, queryPrepared, sql, type SqlFragment } from '../database/sql.ts';

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

/** One rendered mail to one recipient. */
export interface RenderedEmail {
  emailId: string;
  /** Null for an address that is not a contact (a test send). */
  contactId: string | null;
  to: Mailbox;
  subject: string;
  html: string;
  text: string;
  headers: [string, string][];
}

/** Who sends an email: the fields that the emails of one request share. */
export interface EmailSender {
  templateId: string | null;
  from: Mailbox;
  replyTo?: string | undefined;
  /** The id that `storeAttachments` returns. */
  attachmentSetId?: string | null;
}

/** The fields that the emails of one `queueEmails` share. */
export interface EmailOrigin extends EmailSender {
  projectId: string;
  /** The execution that sends it. */
  execution?: { automationId: string; executionId: string };
}

/** Stores the files that go with the mails of one request, once for all of them. @returns their id; null for none */
export async function storeAttachments(em: Em, attachments: EmailAttachment[]): Promise<string | null> {
  if (attachments.length === 0) return null;
  const setId = uuidV7();
  for (const [position, file] of attachments.entries()) {
    await query(
      em,
      sql`
        insert into attachment (set_id, position, filename, content_type, content_id, disposition, content)
        values (${setId}, ${position}, ${file.filename}, ${file.contentType}, ${file.contentId ?? null}, ${file.disposition}, ${file.content})`,
    );
  }
  return setId;
}

/** An email with its sender. */
export type SentEmail = RenderedEmail & { sender: EmailSender };

/** Stores one email without arrays, because the driver would have to escape their texts, which may have megabytes. */
function emailRows(mails: SentEmail[]): SqlFragment {
  const [mail] = mails;
  if (mail && mails.length === 1) {
    const { sender } = mail;
    return sql`
      select ${mail.emailId}::uuid as id, ${mail.contactId}::uuid as contact_id, ${mail.to.address}::text as to_address,
        ${mail.to.name ?? null}::text as to_name, ${mail.subject}::text as subject, ${mail.html}::text as html,
        ${mail.text}::text as body_text, ${json(mail.headers)}::jsonb as headers, ${sender.templateId}::uuid as template_id,
        ${sender.from.address}::text as from_address, ${sender.from.name ?? null}::text as from_name,
        ${sender.replyTo ?? null}::text as reply_to, ${sender.attachmentSetId ?? null}::uuid as attachment_set_id`;
  }
  return sql`
    select * from unnest(
      ${mails.map((it) => it.emailId)}::uuid[], ${mails.map((it) => it.contactId)}::uuid[],
      ${mails.map((it) => it.to.address)}::text[], ${mails.map((it) => it.to.name ?? null)}::text[],
      ${mails.map((it) => it.subject)}::text[], ${mails.map((it) => it.html)}::text[],
      ${mails.map((it) => it.text)}::text[], ${mails.map((it) => json(it.headers))}::jsonb[],
      ${mails.map((it) => it.sender.templateId)}::uuid[], ${mails.map((it) => it.sender.from.address)}::text[],
      ${mails.map((it) => it.sender.from.name ?? null)}::text[], ${mails.map((it) => it.sender.replyTo ?? null)}::text[],
      ${mails.map((it) => it.sender.attachmentSetId ?? null)}::uuid[]
    ) as m (id, contact_id, to_address, to_name, subject, html, body_text, headers, template_id, from_address, from_name,
      reply_to, attachment_set_id)`;
}

/** Stores rendered mails of one sender as PENDING and leaves them in the outbox, in the caller's transaction. */
export async function queueEmails(em: Em, sender: EmailOrigin, mails: RenderedEmail[]): Promise<void> {
  const { projectId, execution } = sender;
  const sent = mails.map((mail) => ({ ...mail, sender }));
  await storeEmails(em, projectId, sent, execution);
}

/** As `queueEmails`, for mails that have a sender each. */
export async function storeEmails(
  em: Em,
  projectId: string,
  mails: SentEmail[],
  execution?: EmailOrigin['execution'],
): Promise<void> {
  const ids = mails.map((mail) => mail.emailId);
  const queued = execution
    ? outboxInsert('automationEmail', projectId, ids, { isGathered: true })
    : outboxInsert('email', projectId, ids);
  await queryPrepared(
    em,
    sql`
      with mail as (${emailRows(mails)}),
      record as (
        insert into email
          (id, project_id, contact_id, template_id, automation_id, execution_id, to_address, subject, status, created_at,
            delivery_due_at)
        select id, ${projectId}, contact_id, template_id, ${execution?.automationId ?? null}::uuid,
          ${execution?.executionId ?? null}::uuid, to_address, subject, 'PENDING', now(), now()
        from mail
      ),
      queued as (${queued})
      insert into email_content
        (email_id, from_address, from_name, to_name, reply_to, html, body_text, headers, attachment_set_id, created_at)
      select id, from_address, from_name, to_name, reply_to, html, body_text, headers, attachment_set_id, now()
      from mail`,
  );
}
