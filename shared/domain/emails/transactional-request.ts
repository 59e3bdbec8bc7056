import { AppError, badRequest, validationError, type FieldError } from '../../pure/app-error.ts';
import type { Brand } from '../../pure/brand.ts';
import type { EmailType } from '../../pure/emails/email-types.ts';
import type { TrackingMode } from '../../pure/project.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import type { EmailCompiler, EmailSource } from '../../sending/compose/compiled-email.ts';
import type { Share } from '../../platform/share.ts';
import { purposeOf, refusalOf, type Refusal } from '../consent/consent.ts';
import { nameOfDomain } from '../domains/sender-domains.ts';
import { findEmailTopic, choicesAbout } from '../topics/email-topics.ts';
import { findTemplate } from '../templates/templates.ts';
import type { Em } from '../../database/sql.ts';
import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import { readDataPatch } from '../../pure/contacts/custom-data.ts';
import type { ContactRow, UpsertedContact } from '../contacts/contacts.ts';
import type { Template } from '../templates/template.entity.ts';
import type { EmailAttachment, Mailbox } from './stored-email.ts';

/** A checked request of POST /v1/send. */
export interface TransactionalRequest {
  /** The key that it came with, and the only domains that this key may send from; null means all of the project. */
  key: { id: string; senderDomains: readonly string[] | null };
  to: Mailbox[];
  /** They get the message of the only recipient in `to`. */
  cc?: Mailbox[] | undefined;
  bcc?: Mailbox[] | undefined;
  tags?: string[] | undefined;
  /** When the emails are due; at once when it is missing or past. */
  scheduledAt?: Date | undefined;
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
export interface ResolvedContent extends Omit<EmailSource, 'isTracked'> {
  tracking: TrackingMode;
  from: Mailbox;
  replyTo?: string;
  templateId: string | null;
  keyId: string;
  tags?: string[] | undefined;
  scheduledAt?: Date | undefined;
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

/** A template, and what it is about. */
export interface FoundTemplate {
  template?: Template;
  topic: EmailTopic | null;
}

const NO_TEMPLATE: FoundTemplate = { topic: null };

/** Finds a template with its topic. @throws AppError TEMPLATE_NOT_FOUND, TOPIC_NOT_FOUND */
export async function findTemplateAndTopic(em: Em, projectId: string, templateId: string): Promise<FoundTemplate> {
  const template = await findTemplate(em, projectId, templateId);
  return { template, topic: await findEmailTopic(em, projectId, template.topicId) };
}

/** @throws AppError ROLE_REFUSED for a domain that is none of those the key may send from */
function assertDomainOfKey({ senderDomains }: TransactionalRequest['key'], address: string): void {
  const refused = domainRefusal(senderDomains, address);
  if (refused) throw refused;
}

/** The error for a domain that is none of those a key may send from. */
export function domainRefusal(senderDomains: readonly string[] | null, address: string): AppError | undefined {
  const domain = nameOfDomain(address);
  if (senderDomains === null || senderDomains.includes(domain)) return undefined;
  return new AppError('ROLE_REFUSED', {
    message: `This key may not send from ${domain}, only from ${senderDomains.join(', ')}`,
    details: { domain, senderDomains },
    suggestion: 'Send from one of these domains, or use a key that may send from all domains of the project',
  });
}

/** @throws AppError VALIDATION_ERROR for copies of marketing */
function assertMayHaveCopies(type: EmailType, request: TransactionalRequest): void {
  if (type === 'TRANSACTIONAL' || copiesOf(request).length === 0) return;
  const message = 'Only TRANSACTIONAL email may have copies: the links of marketing belong to one recipient';
  throw validationError([{ field: request.cc?.length ? 'cc' : 'bcc', message, code: 'custom' }]);
}

function futureMoment({ scheduledAt }: TransactionalRequest): Date | undefined {
  return scheduledAt && scheduledAt.getTime() > Date.now() ? scheduledAt : undefined;
}

/** Content and sender of a request. @throws AppError VALIDATION_ERROR for what is missing, ROLE_REFUSED */
export function resolveContent(
  request: TransactionalRequest,
  found: FoundTemplate = NO_TEMPLATE,
  { tracking, brand }: { tracking: TrackingMode; brand: Brand },
): ResolvedContent {
  const { template, topic } = found;
  const subject = request.subject ?? template?.subject;
  const html = request.html ?? template?.body;
  const from = request.from ?? (template && senderOf(template, brand));
  const missing: FieldError[] = [];
  for (const [field, value] of Object.entries({ subject, body: html, from })) {
    if (value !== undefined) continue;
    missing.push({ field, message: MISSING, code: 'invalid_type' });
  }
  if (subject === undefined || html === undefined || from === undefined) throw validationError(missing);
  assertDomainOfKey(request.key, from.address);
  const type = template?.type ?? 'TRANSACTIONAL';
  assertMayHaveCopies(type, request);
  return {
    subject,
    html,
    ...resolveExtras(request, template),
    from,
    type,
    brand,
    topic,
    tracking,
    replyTo: request.replyTo ?? template?.replyTo ?? undefined,
    templateId: template?.id ?? null,
    keyId: request.key.id,
    tags: request.tags,
    scheduledAt: futureMoment(request),
  };
}

/** A recipient of a request who may not receive its email, and why. */
export interface RefusedRecipient {
  recipient: string;
  reason: Refusal;
}

/** Those contacts who may not receive what a caller sends to them: they opted out, left its topic or paused. */
export async function findRefused(
  em: Em,
  { type, topic }: Pick<ResolvedContent, 'type' | 'topic'>,
  contacts: UpsertedContact[],
): Promise<RefusedRecipient[]> {
  const purpose = purposeOf(type, true);
  const choices = topic && purpose !== 'transactional' ? await choicesAbout(em, topic.id, contacts) : undefined;
  return contacts.flatMap((contact) => {
    const reason = refusalOf(purpose, { ...contact, topicChoice: choices?.get(contact.id) }, topic);
    return reason ? [{ recipient: contact.email, reason }] : [];
  });
}

/**
 * A contact who withdrew consent gets no marketing email, whatever the request says; nothing of the request is kept.
 * @throws AppError BAD_REQUEST
 */
export function assertNobodyRefused(refused: RefusedRecipient[]): void {
  if (refused.length === 0) return;
  const [who, have] = refused.length === 1 ? ['A recipient', 'has'] : ['Recipients', 'have'];
  const recipients = refused.map(({ recipient }) => recipient);
  if (refused.every(({ reason }) => reason === 'opted out')) {
    throw badRequest(`${who} ${have} unsubscribed from this type of email`, {
      details: { recipients },
      suggestion: 'Send it as TRANSACTIONAL if it is not marketing, or leave these recipients out',
    });
  }
  throw badRequest(`${who} may not receive this email`, {
    details: { recipients, refused },
    suggestion: 'Leave these recipients out; `refused` says why each may not receive it',
  });
}

/** The recipients in Cc and Bcc. */
export function copiesOf({ cc = [], bcc = [] }: Pick<TransactionalRequest, 'cc' | 'bcc'>): Mailbox[] {
  return [...cc, ...bcc];
}

const SEND = { reason: 'send' } as const;

/** What a request does to contacts. Its data and its subscription are about those in `to`. */
export function contactRowsOf(
  request: Pick<TransactionalRequest, 'to' | 'cc' | 'bcc' | 'data' | 'subscribed'>,
): ContactRow[] {
  const [patch, none] = [readDataPatch(request.data), readDataPatch(undefined)];
  const subscribedDefault = false;
  const { subscribed } = request;
  const rows = byAddress(request.to).map(([email]) => ({ email, patch, subscribed, subscribedDefault, cause: SEND }));
  return [
    ...rows,
    ...copiesOf(request).map(({ address }) => ({ email: address, patch: none, subscribedDefault, cause: SEND })),
  ];
}

/** An address of a request in `to`, with its index. */
interface Addressed {
  recipient: Mailbox;
  index: number;
}

/** Recipients by their address. Addresses are in the order in which contacts are locked. */
function byAddress(to: Mailbox[]): [address: string, recipients: Addressed[]][] {
  const addressed = to.map((recipient, index) => ({ recipient, index }));
  const groups = Map.groupBy(addressed, ({ recipient }) => recipient.address);
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Recipients whose data, or whose emails, are in memory at the same time. */
const RECIPIENTS_TOGETHER = 50;

/** Divides recipients by their addresses, in the order in which contacts are locked. Parts keep the order of `to`. */
export function chunksOf(to: Mailbox[]): Addressed[][] {
  const groups = byAddress(to);
  return Array.from({ length: Math.ceil(groups.length / RECIPIENTS_TOGETHER) }, (_, chunk) =>
    groups
      .slice(chunk * RECIPIENTS_TOGETHER, (chunk + 1) * RECIPIENTS_TOGETHER)
      .flatMap(([, recipients]) => recipients)
      .sort((left, right) => left.index - right.index),
  );
}
