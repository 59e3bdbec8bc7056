import type { Brand } from '../../pure/brand.ts';
import type { TrackingMode } from '../../pure/project.ts';
import { createTurns } from '../../platform/turns.ts';
import { upsertContacts } from '../contacts/contacts.ts';
import type { Em } from '../database/em.ts';
import { inTransaction } from '../database/transaction.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import { findTemplate } from '../templates/templates.ts';
import { createRequestRenderer, type RequestRenderer } from './request-renderer.ts';
import { queueEmails, storeAttachments } from './stored-email.ts';
import {
  assertNobodyOptedOut,
  byAddress,
  LARGE_LENGTH,
  optedOutOf,
  resolveContent,
  type QueuedEmail,
  type ResolvedContent,
  type TransactionalDeps,
  type TransactionalRequest,
} from './transactional-request.ts';

/** The most recipients with their data, and octets of rendered email, that are in memory before they are stored. */
const RECIPIENTS_TOGETHER = 50;
const BYTES_TOGETHER = 1_048_576;

/**
 * Queues the emails of one request: contacts are written, emails are rendered and stored, and the outbox gets their
 * deliveries, all in one transaction. Wake the dispatcher afterwards.
 * @throws AppError TEMPLATE_NOT_FOUND, SENDER_DOMAIN_REFUSED, VALIDATION_ERROR, BAD_REQUEST (recipient opted out)
 */
export async function queueLoneRequest(
  em: Em,
  project: { id: string; tracking: TrackingMode; brand: Brand },
  request: TransactionalRequest,
  deps: TransactionalDeps,
): Promise<QueuedEmail[]> {
  const projectId = project.id;
  const template = request.templateId === undefined ? undefined : await findTemplate(em, projectId, request.templateId);
  const content = resolveContent(request, template, project);
  // Before anything is compiled, so that a refused request costs no more than this.
  await assertSenderDomain(em, projectId, content.from.address);
  const queueAll = async (): Promise<QueuedEmail[]> => {
    const startRendering = await createRequestRenderer(projectId, content, request, deps);
    return inTransaction(em, (tx) => queueRecipients(tx, projectId, content, request, startRendering()));
  };
  return content.html.length + (content.text?.length ?? 0) < LARGE_LENGTH ? queueAll() : deps.largeWork(queueAll);
}

/** Handles some recipients at a time, so that their data and rendered emails are never all in memory. */
async function queueRecipients(
  tx: Em,
  projectId: string,
  content: ResolvedContent,
  request: TransactionalRequest,
  renderer: RequestRenderer,
): Promise<QueuedEmail[]> {
  const attachmentSetId = await storeAttachments(tx, request.attachments);
  const groups = byAddress(request.to);
  const queued: QueuedEmail[] = [];
  const optedOut: string[] = [];
  const takeTurns = createTurns();
  for (let start = 0; start < groups.length; start += RECIPIENTS_TOGETHER) {
    const chunk = groups.slice(start, start + RECIPIENTS_TOGETHER);
    const contacts = await upsertContacts(tx, {
      projectId,
      emails: chunk.map(([address]) => address),
      subscribedDefault: false,
      subscribed: request.subscribed,
      data: request.data,
    });
    optedOut.push(...optedOutOf(content.type, contacts));
    if (optedOut.length > 0) continue;
    let rendered: ReturnType<RequestRenderer['render']>[] = [];
    let bytes = 0;
    const store = async (): Promise<void> => {
      if (rendered.length > 0) await queueEmails(tx, { ...content, projectId, attachmentSetId }, rendered);
      rendered = [];
      bytes = 0;
    };
    for (const [index, contact] of contacts.entries()) {
      for (const { recipient, place } of chunk[index]?.[1] ?? []) {
        const email = renderer.render(recipient, contact);
        queued[place] = { emailId: email.emailId, contact: { id: contact.id, email: recipient.address } };
        if (bytes + email.bytes > BYTES_TOGETHER) await store();
        rendered.push(email);
        bytes += email.bytes;
        await takeTurns();
      }
    }
    await store();
  }
  assertNobodyOptedOut(optedOut);
  return queued;
}
