import { uuidV7 } from '../../platform/uuid.ts';
import { tooLarge, validationError } from '../../pure/app-error.ts';
import { readDataPatch } from '../../pure/contacts/custom-data.ts';
import { LIMITS } from '../../pure/limits.ts';
import { BASE64_FACTOR, sizeOf } from '../../pure/emails/encoded-size.ts';
import { HEADERS_TOO_LARGE, headersBytes } from '../../pure/emails/message-headers.ts';
import { findForeignSyntax, foreignSyntaxSteps } from '../../pure/templates/foreign-syntax.ts';
import { createRenderScope } from '../../pure/templates/render-scope.ts';
import {
  compileTemplate,
  createRenderMeter,
  sanitizeHeaderText,
  TemplateLimitError,
  TemplateSyntaxError,
  type CompiledTemplate,
  type RenderMeter,
  type RenderScope,
} from '../../pure/templates/template-language.ts';
import { createMessageHeaders } from '../../sending/compose/message-headers.ts';
import { runWithYields } from '../../platform/yielding.ts';
import type { UpsertedContact } from '../contacts/contacts.ts';
import { compileForTracking } from './tracked-kinds.ts';
import type { SizedEmail } from './email-queue.ts';
import type { EmailSender, Mailbox, RenderedEmail } from './stored-email.ts';
import {
  copiesOf,
  type ResolvedContent,
  type TransactionalDeps,
  type TransactionalRequest,
} from './transactional-request.ts';

export interface RequestRenderer {
  /**
   * Renders the email of one recipient and adds its cost to that of the request. The links are those of `contact`, the
   * rest is about `shown`, by default the same.
   * @throws AppError VALIDATION_ERROR naming body, headers or to
   */
  render: (
    recipient: Mailbox,
    contact: UpsertedContact,
    shown?: UpsertedContact,
  ) => RenderedEmail & { contactId: string; bytes: number };
}

function templateFault(error: unknown, field: string): unknown {
  if (error instanceof TemplateLimitError) return tooLarge(field, error.message);
  if (!(error instanceof TemplateSyntaxError)) return error;
  return validationError([
    { field, message: `${error.message} (line ${error.line}, column ${error.column})`, code: 'invalid_template' },
  ]);
}

function bodyFault(error: unknown): unknown {
  const isFault = error instanceof TemplateSyntaxError || error instanceof TemplateLimitError;
  const part = isFault ? error.part : undefined;
  return templateFault(error, part === undefined || part === 'html' ? 'body' : part);
}

interface HeaderTemplate {
  name: string;
  template: CompiledTemplate;
}

function compileHeaders(headers: [string, string][]): HeaderTemplate[] {
  return headers.map(([name, value]) => {
    const foreign = findForeignSyntax(value, 'text');
    if (foreign) throw templateFault(foreign, `headers.${name}`);
    try {
      return { name, template: compileTemplate(value, 'text') };
    } catch (error) {
      throw templateFault(error, `headers.${name}`);
    }
  });
}

/** A rendered header has the same limits as a header that a caller writes. */
function renderHeaders(headers: HeaderTemplate[], scope: RenderScope, meter: RenderMeter): [string, string][] {
  const rendered = headers.map(({ name, template }): [string, string] => {
    const value = sanitizeHeaderText(template.render(scope, meter));
    if (value.length > LIMITS.customHeaderValueLength) {
      throw tooLarge(
        `headers.${name}`,
        `The rendered value is longer than ${LIMITS.customHeaderValueLength} characters`,
      );
    }
    return [name, value];
  });
  if (headersBytes(rendered) > LIMITS.customHeadersBytes) throw tooLarge('headers', HEADERS_TOO_LARGE);
  return rendered;
}

/**
 * Refuses content of a request that is written for another template language. Stored content was checked when it was
 * saved. @throws AppError VALIDATION_ERROR naming subject, body, text or preheader
 */
async function assertOwnLanguage({ subject, html, text, preheader }: TransactionalRequest): Promise<void> {
  for (const [field, source, mode] of [
    ['subject', subject, 'text'],
    ['body', html, 'html'],
    ['text', text, 'text'],
    ['preheader', preheader, 'text'],
  ] as const) {
    const fault = source === undefined ? undefined : await runWithYields(foreignSyntaxSteps(source, mode));
    if (fault) throw templateFault(fault, field);
  }
}

/**
 * Adds up the cost of rendering for all recipients of a request.
 * @returns a function that adds the cost of one recipient and throws AppError VALIDATION_ERROR naming `to`
 */
function createRequestCost(): (bytes: number, steps: number) => void {
  const { renderedBytesPerRequest: bytesMax, renderStepsPerRequest: stepsMax } = LIMITS;
  const total = { bytes: 0, steps: 0 };
  return (bytes, steps) => {
    total.bytes += bytes;
    total.steps += steps;
    if (total.bytes > bytesMax) {
      throw tooLarge('to', `The bodies rendered for all recipients may have at most ${bytesMax} bytes together`);
    }
    if (total.steps > stepsMax) {
      throw tooLarge('to', `Rendering the emails to all recipients may take at most ${stepsMax} steps`);
    }
  };
}

/**
 * Compiles the content of a request.
 * @returns a function that starts rendering with a cost of zero; a repeated transaction calls it again
 * @throws AppError VALIDATION_ERROR naming subject, body, text, preheader or a header
 */
export async function createRequestRenderer(
  projectId: string,
  content: ResolvedContent,
  request: TransactionalRequest,
  deps: TransactionalDeps,
): Promise<() => RequestRenderer> {
  await assertOwnLanguage(request);
  const compiledFor = await compileForTracking(deps.compileEmail, content, content.tracking).catch((error: unknown) => {
    throw bodyFault(error);
  });
  const headers = compileHeaders(request.headers);
  const headersOf = createMessageHeaders({
    type: content.type,
    source: 'request',
    sourceId: content.templateId,
    projectId,
    from: content.from.address,
    listName: content.brand.displayName,
    topic: content.topic,
  });
  const { values } = readDataPatch(request.data);
  const attachedBytes = request.attachments.reduce((sum, file) => sum + file.content.length, 0) * BASE64_FACTOR;

  /**
   * Leaves out the derived text part of a large body when the message would be too large with both parts.
   * @returns the text part, the octets of the parts that the caller wrote, and about as many as the message takes
   */
  function fitToMessage({ html, text }: { html: string; text: string }) {
    const bytesMax = deps.messageBytesMax - attachedBytes;
    const isDerived = !content.text;
    const [htmlSize, textSize] = [sizeOf(html), sizeOf(text)];
    const encodedBytes = htmlSize.encodedBytes + textSize.encodedBytes;
    if (encodedBytes <= bytesMax) {
      return { text, bytes: htmlSize.bytes + (isDerived ? 0 : textSize.bytes), encodedBytes };
    }
    if (isDerived && html.length > LIMITS.templateLength && htmlSize.encodedBytes <= bytesMax) {
      return { text: '', ...htmlSize };
    }
    const isTextLarger = !isDerived && textSize.encodedBytes > htmlSize.encodedBytes;
    throw tooLarge(isTextLarger ? 'text' : 'body', `The message is larger than ${deps.messageBytesMax} bytes`);
  }

  return () => {
    const conversions = new Map<string, string>();
    const addCost = createRequestCost();

    return {
      render(recipient, contact, shown = contact) {
        const emailId = uuidV7();
        const urls = deps.links.recipientUrls({ contactId: contact.id, emailId, projectId });
        const meter = createRenderMeter(conversions);
        try {
          const compiled = compiledFor(contact.trackingAllowed);
          const message = compiled.render({ contact: shown, requestData: values, urls, meter });
          const custom = renderHeaders(
            headers,
            createRenderScope({ contact: shown, requestData: values, urls }),
            meter,
          );
          const { text, bytes, encodedBytes } = fitToMessage(message);
          addCost(bytes, meter.steps);
          return {
            emailId,
            contactId: contact.id,
            to: recipient,
            subject: message.subject,
            html: message.html,
            text,
            headers: [...headersOf(urls), ...custom],
            bytes: encodedBytes,
          };
        } catch (error) {
          throw error instanceof TemplateLimitError ? bodyFault(error) : error;
        }
      },
    };
  };
}

/**
 * Renders the emails of a request, in the order of `to`, `cc` and `bcc`. A copy says what the only recipient in `to`
 * reads, with the links of its own recipient.
 */
export function* renderedEmails(
  request: TransactionalRequest,
  contactOf: ReadonlyMap<string, UpsertedContact>,
  { render }: RequestRenderer,
  sender: EmailSender,
): Generator<SizedEmail> {
  const withContact = (recipients: Mailbox[]) =>
    recipients.flatMap((recipient) => {
      const contact = contactOf.get(recipient.address);
      return contact ? [{ recipient, contact }] : [];
    });
  const copies = withContact(copiesOf(request));
  for (const { recipient, contact } of withContact(request.to)) {
    const email = { ...render(recipient, contact), sender };
    if (copies.length === 0) {
      yield email;
      continue;
    }
    const addressed = { emailId: email.emailId, to: recipient, cc: request.cc ?? [] };
    yield { ...email, addressed };
    for (const copy of copies) yield { ...render(copy.recipient, copy.contact, contact), sender, addressed };
  }
}
