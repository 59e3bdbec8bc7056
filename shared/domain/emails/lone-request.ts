import type { Brand } from '../../pure/brand.ts';
import type { TrackingMode } from '../../pure/project.ts';
import { createYields } from '../../platform/yielding.ts';
import { upsertContactRows, upsertContacts, type UpsertedContact } from '../contacts/contacts.ts';
import type { Em } from '../../database/em.ts';
import { inTransaction } from '../../database/transaction.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import { createRequestRenderer, renderedEmails, type RequestRenderer } from './request-renderer.ts';
import { assertScheduledLimit } from './scheduled-emails.ts';
import { queueEmails, storeAttachments, type EmailOrigin, type Mailbox } from './stored-email.ts';
import {
  assertNobodyRefused,
  bodyLength,
  byAddress,
  contactRowsOf,
  copiesOf,
  findRefused,
  findTemplateAndTopic,
  LARGE_LENGTH,
  resolveContent,
  type QueuedEmail,
  type RefusedRecipient,
  type ResolvedContent,
  type TransactionalDeps,
  type TransactionalRequest,
} from './transactional-request.ts';

/** Recipients whose data are in memory at the same time. */
const RECIPIENTS_TOGETHER = 50;
/** Bytes of rendered emails that are in memory at the same time; a larger email goes alone. */
const BYTES_TOGETHER = 1_048_576;

/**
 * Queues the emails of one request: contacts are written, emails are rendered and stored, and the outbox gets their
 * deliveries, all in one transaction.
 * @throws AppError TEMPLATE_NOT_FOUND, TOPIC_NOT_FOUND, SENDER_DOMAIN_REFUSED, VALIDATION_ERROR, BAD_REQUEST (a
 *   recipient opted out, left the topic or paused)
 */
export async function queueLoneRequest(
  em: Em,
  project: { id: string; tracking: TrackingMode; brand: Brand },
  request: TransactionalRequest,
  deps: TransactionalDeps,
): Promise<QueuedEmail[]> {
  const projectId = project.id;
  const found =
    request.templateId === undefined ? undefined : await findTemplateAndTopic(em, projectId, request.templateId);
  const content = resolveContent(request, found, project);
  // Checked before anything is compiled, so that a refused request costs little.
  await assertSenderDomain(em, projectId, content.from.address);
  if (content.scheduledAt) await assertScheduledLimit(em, projectId);
  const queueAll = async (): Promise<QueuedEmail[]> => {
    const startRendering = await createRequestRenderer(projectId, content, request, deps);
    return inTransaction(em, (tx) => queueRecipients(tx, projectId, content, request, startRendering()));
  };
  return bodyLength(content) < LARGE_LENGTH ? queueAll() : deps.largeWork.run(projectId, queueAll);
}

/** Queues the emails of all recipients, some recipients at a time. @returns the emails in the order of the request */
async function queueRecipients(
  tx: Em,
  projectId: string,
  content: ResolvedContent,
  request: TransactionalRequest,
  renderer: RequestRenderer,
): Promise<QueuedEmail[]> {
  const attachmentSetId = await storeAttachments(tx, request.attachments);
  const origin = { ...content, projectId, attachmentSetId };
  if (copiesOf(request).length > 0) return queueWithCopies(tx, origin, request, renderer);
  const groups = byAddress(request.to);
  const queued: QueuedEmail[] = [];
  const refused: RefusedRecipient[] = [];
  for (let start = 0; start < groups.length; start += RECIPIENTS_TOGETHER) {
    const chunk = groups.slice(start, start + RECIPIENTS_TOGETHER);
    const contacts = await upsertContacts(tx, {
      projectId,
      emails: chunk.map(([address]) => address),
      subscribedDefault: false,
      subscribed: request.subscribed,
      cause: { reason: 'send' },
      data: request.data,
    });
    refused.push(...(await findRefused(tx, content, contacts)));
    // Further contacts are only read for the error, which names everybody who may not receive it.
    if (refused.length > 0) continue;
    const recipients = contacts.flatMap((contact, position) =>
      (chunk[position]?.[1] ?? []).map((addressed) => ({ ...addressed, contact })),
    );
    for (const [position, email] of (await queueRendered(tx, origin, renderEach(recipients, renderer))).entries()) {
      queued[recipients[position]?.index ?? 0] = email;
    }
  }
  assertNobodyRefused(refused);
  return queued;
}

/** Queues the email of the only recipient in `to`, and its copies. */
async function queueWithCopies(
  tx: Em,
  origin: EmailOrigin,
  request: TransactionalRequest,
  renderer: RequestRenderer,
): Promise<QueuedEmail[]> {
  const contacts = await upsertContactRows(tx, origin.projectId, contactRowsOf(request));
  const contactOf = new Map(contacts.map((contact) => [contact.email, contact]));
  return queueRendered(tx, origin, renderedEmails(request, contactOf, renderer));
}

function* renderEach(
  recipients: readonly { recipient: Mailbox; contact: UpsertedContact }[],
  { render }: RequestRenderer,
): Generator<ReturnType<RequestRenderer['render']>> {
  for (const { recipient, contact } of recipients) yield render(recipient, contact);
}

/** Queues emails while they are rendered, some at a time. @returns them in their order */
async function queueRendered(
  tx: Em,
  origin: EmailOrigin,
  emails: Iterable<ReturnType<RequestRenderer['render']>>,
): Promise<QueuedEmail[]> {
  const queued: QueuedEmail[] = [];
  const yieldIfDue = createYields();
  let rendered: ReturnType<RequestRenderer['render']>[] = [];
  let bytes = 0;
  for (const email of emails) {
    if (rendered.length > 0 && bytes + email.bytes > BYTES_TOGETHER) {
      await queueEmails(tx, origin, rendered);
      rendered = [];
      bytes = 0;
    }
    rendered.push(email);
    bytes += email.bytes;
    queued.push({ emailId: email.emailId, contact: { id: email.contactId, email: email.to.address } });
    await yieldIfDue();
  }
  if (rendered.length > 0) await queueEmails(tx, origin, rendered);
  return queued;
}
