import { badRequest, validationError, type FieldError } from '../../pure/app-error.ts';
import type { Brand } from '../../pure/brand.ts';
import type { EmailType } from '../../pure/emails/email-types.ts';
import { isEmailTracked, type TrackingMode } from '../../pure/project.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import type { EmailCompiler, EmailSource } from '../../sending/compose/compiled-email.ts';
import type { Share } from '../../platform/share.ts';
import { purposeOf, refusalOf } from '../consent/consent.ts';
import type { UpsertedContact } from '../contacts/contacts.ts';
import type { Template } from '../templates/template.entity.ts';
import type { EmailAttachment, Mailbox } from './stored-email.ts';

/** A checked request of POST /v1/send. */
export interface TransactionalRequest {
  to: Mailbox[];
  subject?: string;
  html?: string;
  text?: string;
  preheader?: string;
  templateId?: string;
  from?: Mailbox;
  replyTo?: string;
  subscribed?: boolean;
  data?: Record<string, unknown>;
  headers: [string, string][];
  attachments: EmailAttachment[];
}

export interface TransactionalDeps {
  links: LinkSigner;
  compileEmail: EmailCompiler;
  messageBytesMax: number;
  /** Admits a few requests with large templates at a time, because each takes megabytes of memory. */
  largeWork: Share;
}

/** Content and sender, from the request or else from its template. */
export interface ResolvedContent extends EmailSource {
  from: Mailbox;
  replyTo?: string;
  templateId: string | null;
}

export interface QueuedEmail {
  contact: { id: string; email: string };
  emailId: string;
}

/** A template of this length may take megabytes of memory once it is compiled. */
export const LARGE_LENGTH = 50_000;

/** The length of both bodies of a request or a template, in UTF-16 units. */
export function bodyLength({ html, text }: { html?: string; text?: string | null }): number {
  return (html?.length ?? 0) + (text?.length ?? 0);
}

/** The text part of a template says the same as the template's body, so it is not used with another body. */
function resolveExtras(request: TransactionalRequest, template: Template | undefined) {
  return {
    text: request.text ?? (request.html === undefined ? template?.text : undefined),
    preheader: request.preheader ?? template?.preheader,
  };
}

function senderOf({ from, fromName }: Template, { displayName }: Brand): Mailbox {
  return { address: from, name: fromName ?? displayName ?? undefined };
}

/** Names the likely mistake: templates of other services are named by `templateId`, which is ignored here. */
const MISSING = 'Required when no template is given. `template` is the field for its id; `templateId` is ignored';

/** Content and sender of a request. @throws AppError VALIDATION_ERROR for what is missing */
export function resolveContent(
  request: TransactionalRequest,
  template: Template | undefined,
  { tracking, brand }: { tracking: TrackingMode; brand: Brand },
): ResolvedContent {
  const subject = request.subject ?? template?.subject;
  const html = request.html ?? template?.body;
  const from = request.from ?? (template && senderOf(template, brand));
  const missing: FieldError[] = [];
  for (const [field, value] of Object.entries({ subject, body: html, from })) {
    if (value !== undefined) continue;
    missing.push({ field, message: MISSING, code: 'invalid_type' });
  }
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

/** The addresses of the contacts who withdrew consent to email of that type. */
export function optedOutOf(type: EmailType, contacts: UpsertedContact[]): string[] {
  const purpose = purposeOf(type, true);
  return contacts.filter((contact) => refusalOf(purpose, contact)).map((contact) => contact.email);
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

/**
 * Recipients by their address, with their index in the request. Addresses are in the order in which contacts are
 * locked.
 */
export function byAddress(to: Mailbox[]): [address: string, recipients: { recipient: Mailbox; index: number }[]][] {
  const groups = new Map<string, { recipient: Mailbox; index: number }[]>();
  for (const [index, recipient] of to.entries()) {
    const group = groups.get(recipient.address) ?? [];
    group.push({ recipient, index });
    groups.set(recipient.address, group);
  }
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1));
}
