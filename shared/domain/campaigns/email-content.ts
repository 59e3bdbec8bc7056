import { AppError } from '../../pure/app-error.ts';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { pick, tables } from '../../database/tables.ts';
import { runWithYields } from '../../platform/yielding.ts';
import { composeSteps, type OutgoingMessage } from '../../sending/compose/mime/compose.ts';
import { createMessageHeaders } from '../../sending/compose/message-headers.ts';
import { messageIdOf } from '../../sending/compose/message-id.ts';
import {
  loadAttachments,
  loadEmails,
  type StoredAttachment,
  type StoredEmail,
} from '../emails/transactional-delivery.ts';
import { renderSent, withImages, type ViewDeps } from './archive.ts';

const REF = pick(tables.email, 'id', 'contactId', 'createdAt', 'sentAt');
/** A source that is longer is cut. */
const SOURCE_LENGTH_MAX = 500_000;

/** The header fields of a message. Folded lines belong to one field (RFC 5322 section 2.2.3). */
function headersOf(source: string) {
  const [head = ''] = source.split('\r\n\r\n', 1);
  return head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => ({ name: line.split(':', 1)[0] ?? '', value: line.slice(line.indexOf(':') + 1).trim() }));
}

async function contentOf(message: OutgoingMessage, isExact: boolean, files: readonly StoredAttachment[] = []) {
  const [first] = files;
  // A submitted message is stored as it came, as its only file.
  const composed = first?.submission
    ? first.content.subarray(0, SOURCE_LENGTH_MAX)
    : await runWithYields(
        composeSteps({
          ...message,
          attachments: files.map(({ contentId, ...file }) => ({
            ...file,
            contentId: contentId ?? undefined,
            content: Buffer.alloc(0),
          })),
        }),
      );
  const source = composed.toString().slice(0, SOURCE_LENGTH_MAX);
  const attachments = files
    .filter(({ submission }) => !submission)
    .map(({ filename, contentType, content }) => ({ filename, contentType, bytes: content.length }));
  return { html: message.html, text: message.text, headers: headersOf(source), source, isExact, attachments };
}

/** The content that was stored when an email was queued. */
async function storedContent(em: Em, stored: StoredEmail) {
  const { emailId, toAddress, fromAddress, addressed, attachmentSetId: setId, headers } = stored;
  const files = setId === null ? [] : ((await loadAttachments(em, [setId])).get(setId) ?? []);
  const content = await contentOf(
    {
      from: { address: fromAddress, name: stored.fromName ?? undefined },
      to: addressed?.to ?? { address: toAddress, name: stored.toName ?? undefined },
      cc: addressed?.cc ?? [],
      replyTo: stored.replyTo ?? undefined,
      subject: stored.subject,
      html: stored.html,
      text: stored.text,
      headers,
      messageId: messageIdOf(addressed?.emailId ?? emailId, fromAddress),
      date: stored.scheduledAt ?? stored.createdAt,
    },
    true,
    files,
  );
  return setId === null ? content : { ...content, html: await withImages(em, content.html, setId) };
}

/**
 * What was sent, or will be: the stored content of an email, or that of its campaign, rendered again.
 * @param keyId only if this key has sent it
 * @throws AppError RESOURCE_NOT_FOUND for an unknown email, or one whose content is gone
 */
export async function readEmailContent(deps: ViewDeps, em: Em, projectId: string, emailId: string, keyId?: string) {
  const ofKey = keyId === undefined ? sql`true` : sql`key_id = ${keyId}`;
  const email = await queryOne(
    em,
    sql`
      select id, contact_id as "contactId", created_at as "createdAt", sent_at as "sentAt"
      from email where id = ${emailId} and project_id = ${projectId} and ${ofKey}`,
    REF,
  );
  if (!email) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Email not found' });
  const [stored] = await loadEmails(em, [emailId]);
  if (stored) return storedContent(em, stored);
  const { contactId, createdAt, sentAt } = email;
  const sent = contactId === null ? undefined : await renderSent(deps, em, { emailId, contactId });
  if (!sent?.message) {
    throw new AppError('RESOURCE_NOT_FOUND', {
      message: 'The content of this email is not kept any more',
      suggestion: 'RETENTION_EMAIL_CONTENT_DAYS says for how long it is kept',
    });
  }
  const { message, from, fromName, replyTo, brand, contact, urls, type, topic, campaignId } = sent;
  const headers = createMessageHeaders({
    type,
    projectId,
    from,
    topic,
    source: 'campaign',
    sourceId: campaignId,
    listName: brand.displayName,
  });
  return contentOf(
    {
      from: { address: from, name: fromName ?? brand.displayName ?? undefined },
      to: { address: contact.email },
      replyTo: replyTo ?? undefined,
      ...message,
      messageId: messageIdOf(emailId, from),
      date: sentAt ?? createdAt,
      headers: headers(urls),
    },
    false,
  );
}
