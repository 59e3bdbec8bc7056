import { badRequest, validationError, type FieldError } from '../../pure/app-error.ts';
import type { Brand } from '../../pure/brand.ts';
import { needsSubscription, type EmailType } from '../../pure/emails/email-types.ts';
import { isEmailTracked, type TrackingMode } from '../../pure/project.ts';
import { createTurns } from '../../platform/turns.ts';
import { upsertContacts, type UpsertedContact } from '../contacts/contacts.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import type { Em } from '../database/em.ts';
import { findTemplate } from '../templates/templates.ts';
import type { Template } from '../templates/template.entity.ts';
import { inTransaction } from '../database/transaction.ts';
import { createRequestRenderer, type RequestRenderer } from './request-renderer.ts';
import { queueEmails, storeAttachments, type Mailbox } from './stored-email.ts';
import type { ResolvedContent, TransactionalDeps, TransactionalRequest } from './transactional-request.ts';

export interface QueuedEmail {
  contact: { id: string; email: string };
  emailId: string;
}

/** A text part says what its body says: that of a template does not fit another body. */
function resolveExtras(request: TransactionalRequest, template: Template | undefined) {
  return {
    text: request.text ?? (request.html === undefined ? template?.text : undefined),
    preheader: request.preheader ?? template?.preheader,
  };
}

/** Content and sender of a request. @throws AppError VALIDATION_ERROR for what is missing */
export function resolveContent(
  request: TransactionalRequest,
  template: Template | undefined,
  { tracking, brand }: { tracking: TrackingMode; brand: Brand },
): ResolvedContent {
  const subject = request.subject ?? template?.subject;
  const html = request.html ?? template?.body;
  const from =
    request.from ?? (template ? { address: template.from, name: template.fromName ?? undefined } : undefined);
  const missing: FieldError[] = [];
  const require = (field: string, value: unknown) => {
    if (value === undefined)
      missing.push({ field, message: 'Required when no template is given', code: 'invalid_type' });
  };
  require('subject', subject);
  require('body', html);
  require('from', from);
  if (subject === undefined || html === undefined || from === undefined) throw validationError(missing);
  const type = template?.type ?? 'TRANSACTIONAL';
  return {
    subject,
    html,
    ...resolveExtras(request, template),
    from,
    type,
    brand,
    isTracked: isEmailTracked(tracking, type),
    replyTo: request.replyTo ?? template?.replyTo ?? undefined,
    templateId: template?.id ?? null,
  };
}

/** The addresses of contacts who get no email of that type. */
export function optedOutOf(type: EmailType, contacts: UpsertedContact[]): string[] {
  if (!needsSubscription(type)) return [];
  return contacts.filter((contact) => contact.optedOutAt !== null).map((contact) => contact.email);
}

/**
 * A contact who withdrew consent gets no marketing email, whatever the request says; nothing of the request is kept.
 * @throws AppError BAD_REQUEST
 */
export function assertNobodyOptedOut(optedOut: string[]): void {
  if (optedOut.length === 0) return;
  throw badRequest(
    `${optedOut.length === 1 ? 'A recipient has' : 'Recipients have'} unsubscribed from this type of email`,
    {
      details: { recipients: optedOut },
      suggestion: 'Send it as TRANSACTIONAL if it is not marketing, or leave these recipients out',
    },
  );
}

/** The most recipients with their data, and octets of rendered email, that are in memory before they are stored. */
const RECIPIENTS_TOGETHER = 50;
const BYTES_TOGETHER = 1_048_576;
/** A template of this length may take megabytes in memory once it is compiled. */
export const LARGE_LENGTH = 50_000;

/**
 * The recipients of each address, with their places in the request; addresses in the order their contacts are locked.
 */
export function byAddress(to: Mailbox[]): [address: string, recipients: { recipient: Mailbox; place: number }[]][] {
  const groups = new Map<string, { recipient: Mailbox; place: number }[]>();
  for (const [place, recipient] of to.entries()) {
    const group = groups.get(recipient.address) ?? [];
    group.push({ recipient, place });
    groups.set(recipient.address, group);
  }
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1));
}

/**
 * Queues a transactional email for each recipient: contacts are written, emails are rendered and stored, and the outbox
 * gets their deliveries, all in one transaction. Wake the dispatcher afterwards.
 * @throws AppError TEMPLATE_NOT_FOUND, SENDER_DOMAIN_REFUSED, VALIDATION_ERROR, BAD_REQUEST (recipient opted out)
 */
export async function queueTransactional(
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
