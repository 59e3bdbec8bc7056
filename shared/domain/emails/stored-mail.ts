import { v7 as uuidV7 } from 'uuid';
import type { Em } from '../orm.ts';
import { outboxInsert } from '../outbox/outbox.ts';
import { json, query, queryPrepared, sql } from '../sql.ts';

export interface Mailbox {
  address: string;
  name?: string;
}

export interface MailAttachment {
  filename: string;
  content: Buffer;
  contentType: string;
  contentId?: string;
  disposition: 'attachment' | 'inline';
}

/** One rendered mail to one recipient. */
export interface RenderedMail {
  emailId: string;
  /** Null for an address that is not a contact (a test send). */
  contactId: string | null;
  to: Mailbox;
  subject: string;
  html: string;
  text: string;
  headers: [string, string][];
}

/** What the mails of one request have in common. */
export interface MailSender {
  projectId: string;
  templateId: string | null;
  from: Mailbox;
  replyTo?: string;
  attachments: MailAttachment[];
  /** The execution that sends it. */
  execution?: { automationId: string; executionId: string };
}

async function insertAttachments(em: Em, attachments: MailAttachment[]): Promise<string | null> {
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

/** Stores rendered mails as PENDING and leaves them in the outbox, in the caller's transaction. */
export async function queueMails(em: Em, sender: MailSender, mails: RenderedMail[]): Promise<void> {
  const setId = await insertAttachments(em, sender.attachments);
  const ids = mails.map((mail) => mail.emailId);
  const queued = sender.execution
    ? outboxInsert('automationEmail', sender.projectId, ids, { isGathered: true })
    : outboxInsert('email', sender.projectId, ids);
  await queryPrepared(
    em,
    sql`
      with mail as (
        select * from unnest(
          ${ids}::uuid[], ${mails.map((mail) => mail.contactId)}::uuid[], ${mails.map((mail) => mail.to.address)}::text[],
          ${mails.map((mail) => mail.to.name ?? null)}::text[], ${mails.map((mail) => mail.subject)}::text[],
          ${mails.map((mail) => mail.html)}::text[], ${mails.map((mail) => mail.text)}::text[],
          ${mails.map((mail) => json(mail.headers))}::jsonb[]
        ) as m (id, contact_id, to_address, to_name, subject, html, body_text, headers)
      ),
      record as (
        insert into email
          (id, project_id, contact_id, template_id, automation_id, execution_id, to_address, subject, status, created_at,
            delivery_due_at)
        select id, ${sender.projectId}, contact_id, ${sender.templateId}, ${sender.execution?.automationId ?? null}::uuid,
          ${sender.execution?.executionId ?? null}::uuid, to_address, subject, 'PENDING', now(), now()
        from mail
      ),
      queued as (${queued})
      insert into email_content
        (email_id, from_address, from_name, to_name, reply_to, html, body_text, headers, attachment_set_id, created_at)
      select id, ${sender.from.address}, ${sender.from.name ?? null}, to_name, ${sender.replyTo ?? null}, html, body_text,
        headers, ${setId}, now()
      from mail`,
  );
}
