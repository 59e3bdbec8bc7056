import { NIL } from 'uuid';
import { uuidV7 } from '../../platform/uuid.ts';
import { AppError } from '../../pure/app-error.ts';
import { inkOn } from '../../pure/brand-color.ts';
import type { DoubleOptIn } from '../../pure/double-opt-in.ts';
import { chooseLanguage, textsOf, type Language } from '../../pure/languages/languages.ts';
import { LIMITS } from '../../pure/limits.ts';
import { escapeHtml } from '../../pure/templates/template-language.ts';
import type { EmailCompiler } from '../../sending/compose/compiled-email.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import { createMessageHeaders } from '../../sending/compose/message-headers.ts';
import { isWireAddress, NO_SENDER } from '../../sending/transport/wire-address.ts';
import { query, queryOne, sql, type Em } from '../../database/sql.ts';
import { boolean, tables } from '../../database/tables.ts';
import { findRefusedSenders } from '../domains/sender-domains.ts';
import { queueEmails } from '../emails/stored-email.ts';
import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import { TemplateEntity, type Template } from '../templates/template.entity.ts';
import { topicName, type OptIn } from './opt-in.ts';

export interface ConfirmationDeps {
  links: LinkSigner;
  compileEmail: EmailCompiler;
}

/** Where confirmations of a project come from, and the template in place of the built-in email. */
export interface ConfirmationSource {
  from: string;
  template: Template | null;
}

/** The sender of confirmations; undefined when the project may not send from any address that fits. */
export async function findConfirmationSource(
  em: Em,
  projectId: string,
  { from, templateId }: DoubleOptIn,
): Promise<ConfirmationSource | undefined> {
  const template = templateId === null ? null : await em.findOne(TemplateEntity, { id: templateId, projectId });
  const chosen = from ?? template?.from;
  if (chosen !== undefined) {
    const refused = await findRefusedSenders(em, projectId, [chosen]);
    return refused.has(chosen) ? undefined : { from: chosen, template };
  }
  const first = await queryOne(
    em,
    sql`
      select domain from sender_domain where project_id = ${projectId} and verified
      order by verified_at, domain limit 1`,
    { domain: tables.senderDomain.domain },
  );
  return first && { from: `no-reply@${first.domain}`, template };
}

const CONFIRM_PLACEHOLDER = /\{\{\{?\s*confirmUrl\b/;

/** @throws AppError VALIDATION_ERROR for a sender or a template that no confirmation can be sent with */
export async function assertDoubleOptIn(em: Em, projectId: string, settings: DoubleOptIn): Promise<void> {
  const fault = (field: keyof DoubleOptIn, message: string, code: string) =>
    new AppError('VALIDATION_ERROR', { message, errors: [{ field: `doubleOptIn.${field}`, message, code }] });
  const { from, templateId } = settings;
  if (templateId !== null) {
    const template = await em.findOne(TemplateEntity, { id: templateId, projectId });
    if (!template) throw fault('templateId', 'The project has no such template', 'unknown_template');
    if (template.type !== 'TRANSACTIONAL') {
      throw fault('templateId', 'Must be TRANSACTIONAL, because nobody has subscribed yet', 'wrong_type');
    }
    if (!CONFIRM_PLACEHOLDER.test(template.body)) {
      throw fault('templateId', 'Its body has no {{confirmUrl}}, so nobody could confirm', 'no_confirm_url');
    }
  }
  if (from === null) return;
  if (!isWireAddress(from)) throw fault('from', NO_SENDER, 'invalid_string');
  const refusal = (await findRefusedSenders(em, projectId, [from])).get(from);
  if (refusal) throw fault('from', refusal.message, 'sender_domain');
}

/** The mailbox of an address: most servers deliver `ada+news@` to `ada@` (RFC 5233). */
function mailboxOf(email: string): string {
  return email.replace(/(?<=[^@])\+[^@]*(?=@)/, '');
}

/**
 * Counts a confirmation to a mailbox, unless it has had as many as it may in 24 hours, from all projects together, or the
 * address is suppressed. Simultaneous calls for a mailbox wait for each other. The count survives the deletion of the
 * contact.
 * @returns whether it may be queued
 */
export async function takeConfirmation(tx: Em, projectId: string, email: string): Promise<boolean> {
  const mailbox = mailboxOf(email);
  await query(tx, sql`select pg_advisory_xact_lock(hashtextextended(${`confirmation ${mailbox}`}, 0))`);
  const taken = await queryOne(
    tx,
    sql`
      with address as materialized (
        select ${addressHash(sql`${projectId}::uuid`, sql`${email}::text`)} as own,
          ${addressHash(sql`${NIL}::uuid`, sql`${mailbox}::text`)} as mailbox
        from ${ADDRESS_HASH_KEY}
      )
      insert into confirmation_mail (project_id, address_hash)
      select ${projectId}, a.mailbox from address a
      where not exists (select from suppression s where s.project_id = ${projectId} and s.address_hash = a.own)
        and (
          select count(*) from confirmation_mail m
          where m.address_hash = a.mailbox and m.queued_at > now() - interval '1 day'
        ) < ${LIMITS.confirmationsPerAddressAndDay}
      returning true as taken`,
    { taken: boolean },
  );
  return taken !== undefined;
}

const BUTTON_COLOR = '#1a56db';
const BUTTON_STYLE =
  'display:inline-block;padding:12px 24px;border-radius:8px;background:{{buttonColor}};color:{{buttonInk}};' +
  'font-weight:600;text-decoration:none';

/** The built-in email. What it names stands in placeholders, so one text serves all projects. */
function builtInContent(language: Language, isReminder: boolean): { subject: string; html: string } {
  const { direction, optIn } = textsOf(language);
  const line = (text: string) =>
    escapeHtml(text).replace('{name}', '{{senderName}}').replace('{email}', '<bdi>{{email}}</bdi>');
  return {
    subject: isReminder ? optIn.reminderSubject : optIn.subject,
    html: `<!doctype html>
<html lang="${language}" dir="${direction}">
<body style="margin:0;padding:24px;font:16px/1.5 sans-serif;color:#1c1c1e">
{{#if logoUrl}}<p><img src="{{logoUrl}}" alt="" height="48" style="height:48px;max-width:240px;border:0"></p>{{/if}}
<p>${line(optIn.ask)}</p>
{{#if topicNames}}<ul>{{#each topicNames}}<li>{{this}}</li>{{/each}}</ul>{{/if}}
<p><a href="{{confirmUrl}}" style="${BUTTON_STYLE}">${escapeHtml(optIn.confirm)}</a></p>
<p style="color:#595959">${line(optIn.ignore)}</p>
{{#if addressLines}}<p style="font-size:12px;color:#595959">{{#each addressLines}}{{this}}<br>{{/each}}</p>{{/if}}
</body>
</html>`,
  };
}

/** Queues the confirmation of an opt-in, or its reminder, in the caller's transaction. It holds no word of the form. */
export async function queueConfirmation(
  tx: Em,
  optIn: OptIn,
  { from, template }: ConfirmationSource,
  isReminder: boolean,
  { links, compileEmail }: ConfirmationDeps,
): Promise<void> {
  const { projectId, contactId, email: address, brand } = optIn;
  const language = chooseLanguage({ locale: optIn.language ?? optIn.locale, projectLanguage: brand.language });
  const buttonColor = brand.brandColor ?? BUTTON_COLOR;
  const content = template
    ? { subject: template.subject, html: template.body, text: template.text, preheader: template.preheader }
    : builtInContent(language, isReminder);
  const emailId = uuidV7();
  const urls = links.recipientUrls({ contactId, emailId, projectId });
  const compiled = await compileEmail({ ...content, type: 'TRANSACTIONAL', topic: null, isTracked: false, brand });
  const message = compiled.render({
    contact: { id: contactId, email: address, subscribed: optIn.subscribed, data: {} },
    requestData: {
      confirmUrl: links.confirmUrl(optIn.id),
      senderName: brand.name,
      logoUrl: brand.logoUrl,
      buttonColor,
      buttonInk: inkOn(buttonColor),
      addressLines: brand.postalAddress?.split('\n') ?? [],
      topicNames: optIn.topics.map((topic) => topicName(topic, language)),
      language,
      isReminder,
    },
    urls,
  });
  const headersOf = createMessageHeaders({
    type: 'TRANSACTIONAL',
    source: 'request',
    sourceId: template?.id ?? null,
    projectId,
    from,
    listName: null,
    topic: null,
  });
  await queueEmails(
    tx,
    {
      projectId,
      templateId: template?.id ?? null,
      topic: null,
      from: { address: from, name: template?.fromName ?? brand.displayName ?? undefined },
      replyTo: template?.replyTo ?? undefined,
    },
    [{ ...message, emailId, contactId, to: { address }, headers: headersOf(urls) }],
  );
}
