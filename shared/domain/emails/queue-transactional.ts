import { v7 as uuidV7 } from 'uuid';
import { badRequest, validationError, type FieldError } from '../../pure/app-error.ts';
import { readDataPatch } from '../../pure/custom-data.ts';
import { needsSubscription, type EmailType } from '../../pure/email-types.ts';
import { isMailTracked, type TrackingMode } from '../../pure/project.ts';
import {
  compileTemplate,
  TemplateLimitError,
  TemplateSyntaxError,
  sanitizeHeaderText,
} from '../../pure/template-language.ts';
import { createRenderScope } from '../../pure/render-scope.ts';
import type { LinkSigner } from '../../platform/links.ts';
import { bulkHeaders, type MailContent, type MailSource } from '../../platform/mail/mail-content.ts';
import { upsertContacts, type UpsertedContact } from '../contacts/contacts.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import type { Em } from '../orm.ts';
import { readTrackingMode } from '../projects/projects.ts';
import { findTemplate } from '../templates/templates.ts';
import type { Template } from '../templates/template.entity.ts';
import { queueMails, type MailAttachment, type Mailbox, type RenderedMail } from './stored-mail.ts';
import { inTransaction } from '../transaction.ts';

/** A checked request of POST /v1/send. */
export interface TransactionalRequest {
  to: Mailbox[];
  subject?: string;
  html?: string;
  templateId?: string;
  from?: Mailbox;
  replyTo?: string;
  subscribed?: boolean;
  data?: Record<string, unknown>;
  headers: [string, string][];
  attachments: MailAttachment[];
}

export interface TransactionalDeps {
  links: LinkSigner;
  compileMail: (source: MailSource) => MailContent;
  messageBytesMax: number;
}

export interface QueuedMail {
  contact: { id: string; email: string };
  emailId: string;
}

interface ResolvedContent {
  subject: string;
  html: string;
  type: EmailType;
  isTracked: boolean;
  from: Mailbox;
  replyTo?: string;
  templateId: string | null;
}

/** Base64 and its line ends make four octets of three, and a little more. */
const BASE64_FACTOR = 1.37;

/** About what a part of the body takes in the message; letters beyond ASCII have to be encoded. */
function octetsOnTheWire(text: string): number {
  const octets = Buffer.byteLength(text);
  return octets === text.length ? octets : octets * BASE64_FACTOR;
}

function resolveContent(
  request: TransactionalRequest,
  template: Template | undefined,
  tracking: TrackingMode,
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
    from,
    type,
    isTracked: isMailTracked(tracking, type),
    replyTo: request.replyTo ?? template?.replyTo ?? undefined,
    templateId: template?.id ?? null,
  };
}

function templateFault(error: unknown, field: string): unknown {
  if (!(error instanceof TemplateSyntaxError)) return error;
  return validationError([
    { field, message: `${error.message} (line ${error.line}, column ${error.column})`, code: 'invalid_template' },
  ]);
}

function compileContent(content: ResolvedContent, deps: TransactionalDeps): MailContent {
  try {
    return deps.compileMail(content);
  } catch (error) {
    throw templateFault(error, error instanceof TemplateSyntaxError && error.part === 'subject' ? 'subject' : 'body');
  }
}

function compileHeaders(headers: [string, string][]) {
  return headers.map(([name, value]) => {
    try {
      return { name, template: compileTemplate(value, 'text') };
    } catch (error) {
      throw templateFault(error, `headers.${name}`);
    }
  });
}

/** A contact who withdrew consent gets no marketing, however it is asked for; nothing of the request is kept. */
function assertNotOptedOut(type: EmailType, contacts: UpsertedContact[]): void {
  if (!needsSubscription(type)) return;
  const optedOut = contacts.filter((contact) => contact.optedOutAt !== null);
  if (optedOut.length === 0) return;
  throw badRequest(
    `${optedOut.length === 1 ? 'A recipient has' : 'Recipients have'} unsubscribed from this kind of mail`,
    {
      details: { recipients: optedOut.map((contact) => contact.email) },
      suggestion: 'Send it as TRANSACTIONAL if it is not marketing, or leave these recipients out',
    },
  );
}

/**
 * Takes a transactional mail for each recipient: contacts are written, the mail is rendered and stored, and what must
 * reach Temporal is left in the outbox, all in one transaction. Wake the dispatcher afterwards.
 * @throws AppError TEMPLATE_NOT_FOUND, SENDER_DOMAIN_REFUSED, VALIDATION_ERROR, BAD_REQUEST (recipient opted out)
 */
export async function queueTransactional(
  em: Em,
  projectId: string,
  request: TransactionalRequest,
  deps: TransactionalDeps,
): Promise<QueuedMail[]> {
  const template = request.templateId === undefined ? undefined : await findTemplate(em, projectId, request.templateId);
  const content = resolveContent(request, template, await readTrackingMode(em, projectId));
  const mail = compileContent(content, deps);
  const headers = compileHeaders(request.headers);
  await assertSenderDomain(em, projectId, content.from.address);
  const { values } = readDataPatch(request.data);

  return inTransaction(em, async (tx) => {
    const contacts = await upsertContacts(tx, {
      projectId,
      emails: [...new Set(request.to.map((recipient) => recipient.address))],
      subscribedDefault: false,
      subscribed: request.subscribed,
      data: request.data,
    });
    assertNotOptedOut(content.type, contacts);
    const byAddress = new Map(contacts.map((contact) => [contact.email, contact]));
    const rendered = request.to.flatMap((recipient) => {
      const contact = byAddress.get(recipient.address);
      return contact ? [renderFor(recipient, contact)] : [];
    });
    await queueMails(tx, { ...content, projectId, attachments: request.attachments }, rendered);
    return rendered.map((item) => ({ emailId: item.emailId, contact: { id: item.contactId, email: item.to.address } }));
  });

  function renderFor(recipient: Mailbox, contact: UpsertedContact): RenderedMail & { contactId: string } {
    const emailId = uuidV7();
    const urls = deps.links.recipientUrls({ contactId: contact.id, emailId });
    const scope = { contact, requestData: values, urls };
    try {
      const message = mail.render(scope);
      const renderScope = createRenderScope(scope);
      const custom = headers.map(({ name, template: value }): [string, string] => [
        name,
        sanitizeHeaderText(value.render(renderScope)),
      ]);
      assertMessageSize(octetsOnTheWire(message.html) + octetsOnTheWire(message.text));
      return {
        emailId,
        contactId: contact.id,
        to: recipient,
        ...message,
        headers: [...bulkHeaders(content.type, urls.unsubscribeUrl), ...custom],
      };
    } catch (error) {
      if (error instanceof TemplateLimitError) {
        throw validationError([{ field: 'body', message: error.message, code: 'too_big' }]);
      }
      throw error;
    }
  }

  function assertMessageSize(textOctets: number): void {
    const attached = request.attachments.reduce((sum, file) => sum + file.content.length, 0);
    if (textOctets + attached * BASE64_FACTOR <= deps.messageBytesMax) return;
    throw validationError([
      { field: 'body', message: `The message is larger than ${deps.messageBytesMax} bytes`, code: 'too_big' },
    ]);
  }
}
