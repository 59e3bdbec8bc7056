import { NIL } from 'uuid';
import { uuidV7 } from '../../platform/uuid.ts';
import { AppError } from '../../pure/app-error.ts';
import { readConfigOf } from '../../pure/automations/automation-config.ts';
import type { GraphStep } from '../../pure/automations/automation-graph.ts';
import { isEmailAddress, normalizeAddress, spellingsOf } from '../../pure/emails/email-address.ts';
import { isRecipientAddress } from '../../sending/transport/wire-address.ts';
import type { Brand } from '../../pure/brand.ts';
import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import { needsSubscription } from '../../pure/emails/email-types.ts';
import { sizeOf } from '../../pure/emails/encoded-size.ts';
import { isEmailTracked, type TrackingMode } from '../../pure/project.ts';
import { createRenderScope } from '../../pure/templates/render-scope.ts';
import { compileTemplate } from '../../pure/templates/template-language.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import type { EmailCompiler } from '../../sending/compose/compiled-email.ts';
import { createMessageHeaders } from '../../sending/compose/message-headers.ts';
import { purposeOf, refusalOf, topicChoice } from '../consent/consent.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import { queueEmails } from '../emails/stored-email.ts';
import { keepTraceContexts } from '../../durable/outbox/trace-contexts.ts';
import { queryPrepared, sql, type Em } from '../../database/sql.ts';
import { boolean, jsonAs, nullable, pick, tables, type RowOf } from '../../database/tables.ts';
import { BRAND } from '../projects/brand.ts';
import { findEmailTopic } from '../topics/email-topics.ts';
import type { Template } from '../templates/template.entity.ts';
import { findTargetFault } from './data-targets.ts';
import { StepError } from './step-error.ts';
import type { ExecutionState } from './execution-state.ts';

export interface SendEmailDeps {
  links: LinkSigner;
  compileEmail: EmailCompiler;
  messageBytesMax: number;
}

/** A contact as steps see it. */
export const STEP_CONTACT = pick(
  tables.contact,
  'id',
  'email',
  'subscribed',
  'isPending',
  'pausedUntil',
  'trackingAllowed',
  'data',
);
export type StepContact = RowOf<typeof STEP_CONTACT>;

/** The contact of an address, as far as consent asks for it. */
const RECIPIENT = {
  ...pick(tables.contact, 'id', 'subscribed', 'isPending', 'pausedUntil', 'trackingAllowed'),
  topicChoice: nullable(boolean),
};

async function findRecipient(tx: Em, projectId: string, address: string, topic: EmailTopic | null) {
  const [recipient] = await queryPrepared(
    tx,
    sql`
      select c.id, c.subscribed, c.is_pending as "isPending", c.paused_until as "pausedUntil",
        c.tracking_allowed as "trackingAllowed",
        ${topicChoice(topic?.id)} as "topicChoice"
      from contact c where c.project_id = ${projectId} and c.email = any(${spellingsOf(address)}::text[])
      order by c.email <> ${address} limit 1`,
    RECIPIENT,
  );
  return recipient;
}

/** The address that a step sends to. @throws StepError */
async function resolveAddress(tx: Em, state: ExecutionState, step: GraphStep, contact: StepContact): Promise<string> {
  const { recipient } = readConfigOf('SEND_EMAIL', step.config);
  if (recipient?.type !== 'CUSTOM') return contact.email;
  const targetFault = await findTargetFault(tx, state.projectId, 'SEND_EMAIL', step.config);
  if (targetFault !== undefined) throw new StepError(targetFault);
  const urls = { unsubscribeUrl: '', subscribeUrl: '', manageUrl: '', viewUrl: '' };
  const scope = createRenderScope({ contact, urls, event: state.context });
  const address = normalizeAddress(compileTemplate(recipient.customEmail ?? '', 'text').render(scope));
  if (!isEmailAddress(address)) throw new StepError('The custom recipient is not an email address after rendering');
  if (!isRecipientAddress(address))
    throw new StepError('No email can be sent to the custom recipient: no domain name stands after the @');
  return address;
}

type StepTemplate = Pick<
  Template,
  'id' | 'subject' | 'body' | 'text' | 'preheader' | 'from' | 'fromName' | 'replyTo' | 'type' | 'topicId'
> & {
  tracking: TrackingMode;
  brand: Brand;
};

/** Reads the template and its project in one statement, because thousands of executions send the same template. */
async function readTemplate(tx: Em, projectId: string, templateId: string): Promise<StepTemplate> {
  const [template] = await queryPrepared(
    tx,
    sql`
      select t.id, t.subject, t.body, t.body_text as "text", t.preheader, t.from_address as "from",
        t.from_name as "fromName", t.reply_to as "replyTo", t.type, t.topic_id as "topicId", p.tracking, ${BRAND} as brand
      from template t join project p on p.id = t.project_id where t.id = ${templateId} and t.project_id = ${projectId}`,
    {
      ...pick(tables.template, 'type', 'id', 'subject', 'body', 'preheader', 'fromName', 'replyTo', 'topicId'),
      text: tables.template.bodyText,
      from: tables.template.fromAddress,
      tracking: tables.project.tracking,
      brand: jsonAs<Brand>(),
    },
  );
  if (!template) throw new AppError('TEMPLATE_NOT_FOUND');
  return template;
}

/** What the email of a step is about: the topic of the step, or else that of its template. @throws StepError */
async function topicOf(
  tx: Em,
  projectId: string,
  step: GraphStep,
  { type, topicId }: StepTemplate,
): Promise<EmailTopic | null> {
  if (!needsSubscription(type)) return null;
  return findEmailTopic(tx, projectId, readConfigOf('SEND_EMAIL', step.config).topicId ?? topicId);
}

/**
 * Queues the email of a step in the caller's transaction, with the template as it is now. It is delivered like every
 * other email. An email that needs consent is not sent to a contact who has not given it, or who left its topic.
 * @returns whether the step was skipped, and its output, which has the id of the email and nothing of its content
 * @throws StepError, AppError TEMPLATE_NOT_FOUND, TOPIC_NOT_FOUND, SENDER_DOMAIN_REFUSED, TemplateSyntaxError,
 *   TemplateLimitError
 */
export async function sendEmailStep(
  deps: SendEmailDeps,
  tx: Em,
  state: ExecutionState,
  step: GraphStep,
  contact: StepContact,
): Promise<{ isSkipped: boolean; output: Record<string, unknown> }> {
  if (step.templateId === null) throw new StepError('The step has no template');
  const template = await readTemplate(tx, state.projectId, step.templateId);
  const topic = await topicOf(tx, state.projectId, step, template);
  const address = await resolveAddress(tx, state, step, contact);
  const own = address === contact.email ? contact : undefined;
  const recipient = own && !topic ? own : ((await findRecipient(tx, state.projectId, address, topic)) ?? own);
  const output = { templateId: template.id };
  const refusal = refusalOf(purposeOf(template.type), recipient ?? {}, topic);
  if (refusal) return { isSkipped: true, output: { ...output, skipped: refusal } };
  await assertSenderDomain(tx, state.projectId, template.from);
  const emailId = uuidV7();
  // The links of an email without a contact lead to no contact's settings.
  const urls = deps.links.recipientUrls({ contactId: recipient?.id ?? NIL, emailId, projectId: state.projectId });
  const isTracked = isEmailTracked(template.tracking, template.type, recipient?.trackingAllowed);
  const email = await deps.compileEmail({
    subject: template.subject,
    html: template.body,
    text: template.text,
    preheader: template.preheader,
    type: template.type,
    isTracked,
    brand: template.brand,
    topic,
  });
  const message = email.render({ contact, urls, event: state.context });
  if (sizeOf(message.html).encodedBytes + sizeOf(message.text).encodedBytes > deps.messageBytesMax) {
    throw new StepError(`The message is larger than ${deps.messageBytesMax} bytes`);
  }
  const headersOf = createMessageHeaders({
    type: template.type,
    source: 'automation',
    sourceId: state.automationId,
    projectId: state.projectId,
    from: template.from,
    listName: template.brand.displayName,
    topic,
  });
  await queueEmails(
    tx,
    {
      projectId: state.projectId,
      templateId: template.id,
      topic,
      from: { address: template.from, name: template.fromName ?? template.brand.displayName ?? undefined },
      replyTo: template.replyTo ?? undefined,
      execution: { automationId: state.automationId, executionId: state.executionId },
    },
    [
      {
        ...message,
        emailId,
        contactId: recipient?.id ?? null,
        to: { address },
        headers: headersOf(urls),
      },
    ],
  );
  await keepTraceContexts(tx, [emailId]);
  return { isSkipped: false, output: { ...output, emailId } };
}
