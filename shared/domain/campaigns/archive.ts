import { NIL } from 'uuid';
import { AppError } from '../../pure/app-error.ts';
import type { Brand } from '../../pure/brand.ts';
import { chooseLanguage, type Language } from '../../pure/languages/languages.ts';
import { isEmailTracked } from '../../pure/project.ts';
import { TemplateLimitError, TemplateSyntaxError } from '../../pure/templates/template-language.ts';
import { campaignStatus } from '../../database/constants.ts';
import { columnsOf, query, queryOne, sql, type Em } from '../../database/sql.ts';
import { jsonAs, notNull, nullable, pick, tables } from '../../database/tables.ts';
import type { CompiledEmail, EmailCompiler, EmailSource } from '../../sending/compose/compiled-email.ts';
import type { LinkSigner, RecipientRef } from '../../sending/compose/links.ts';
import { BRAND } from '../projects/brand.ts';
import { findPublicKeyOwner, type KeyOwner } from '../projects/key-usage.ts';
import { findEmailTopic } from '../topics/email-topics.ts';
import { findCampaign } from './campaigns.ts';
import type { Campaign } from './campaign.entity.ts';

/** Emails in a browser: what a recipient got, and what everybody may read in the archive of a project. */
export interface ViewDeps {
  links: LinkSigner;
  compileEmail: EmailCompiler;
}

const CONTENT = {
  ...pick(tables.campaign, 'type', 'subject', 'preheader'),
  html: tables.campaign.body,
  text: tables.campaign.bodyText,
};
type RenderInput = Parameters<CompiledEmail['render']>[0];

/** @returns undefined for content that cannot be rendered: nobody got it either */
async function render({ compileEmail }: ViewDeps, source: EmailSource, input: RenderInput) {
  try {
    return (await compileEmail(source)).render(input);
  } catch (error) {
    if (error instanceof TemplateLimitError || error instanceof TemplateSyntaxError) return undefined;
    throw error;
  }
}

const SENT = {
  ...CONTENT,
  ...pick(tables.campaign, 'fromName', 'replyTo'),
  campaignId: tables.campaign.id,
  from: tables.campaign.fromAddress,
  topicId: tables.campaign.topicId,
  tracking: tables.project.tracking,
  trackingAllowed: tables.contact.trackingAllowed,
  brand: jsonAs<Brand>(),
  projectId: tables.email.projectId,
  contact: jsonAs<RenderInput['contact']>(),
};

/** An email as it is shown in a browser. */
export interface ViewedEmail {
  html: string;
  subject: string;
  language: Language;
  brand: Brand;
}

function viewed({ html, subject }: Pick<ViewedEmail, 'html' | 'subject'>, brand: Brand, locale?: unknown): ViewedEmail {
  return { html, subject, brand, language: chooseLanguage({ locale, projectLanguage: brand.language }) };
}

/**
 * An email as its recipient got it: the stored one, or that of its campaign, rendered again with what is known of the
 * contact today.
 * @returns undefined when the email, or the contact that it was rendered for, is gone
 */
export async function viewEmail(deps: ViewDeps, em: Em, owner: RecipientRef): Promise<ViewedEmail | undefined> {
  const { emailId } = owner;
  const stored = await queryOne(
    em,
    sql`
      select x.html, x.attachment_set_id as "setId", e.subject, ${BRAND} as brand,
        (select c.data -> 'locale' from contact c where c.id = e.contact_id) as locale
      from email_content x join email e on e.id = x.email_id join project p on p.id = e.project_id
      where x.email_id = ${emailId}`,
    {
      html: tables.emailContent.html,
      setId: tables.emailContent.attachmentSetId,
      subject: tables.email.subject,
      brand: jsonAs<Brand>(),
      locale: nullable(jsonAs()),
    },
  );
  if (stored) {
    const html = stored.setId === null ? stored.html : await withImages(em, stored.html, stored.setId);
    return viewed({ html, subject: stored.subject ?? '' }, stored.brand, stored.locale);
  }
  const sent = await renderSent(deps, em, owner);
  return sent?.message && viewed(sent.message, sent.brand, sent.contact.data['locale']);
}

/**
 * The email of a campaign to one recipient, rendered again with what is known of the contact today, and what its
 * headers follow from.
 * @returns undefined when it is no email of a campaign, or its contact is gone
 */
export async function renderSent(deps: ViewDeps, em: Em, { contactId, emailId }: RecipientRef) {
  const found = await queryOne(
    em,
    sql`
      select ${columnsOf(CONTENT, 'm')}, m.id as "campaignId", m.from_address as from, m.from_name as "fromName",
        m.reply_to as "replyTo", (select t.id from topic t where t.id = m.topic_id) as "topicId", p.tracking,
        c.tracking_allowed as "trackingAllowed", ${BRAND} as brand, e.project_id as "projectId",
        json_build_object('id', c.id, 'email', c.email, 'subscribed', c.subscribed, 'data', c.data) as contact
      from email e join campaign m on m.id = e.campaign_id join project p on p.id = e.project_id
        join contact c on c.id = e.contact_id
      where e.id = ${emailId} and e.contact_id = ${contactId}`,
    SENT,
  );
  if (!found) return undefined;
  const { projectId, contact, tracking, trackingAllowed, topicId, ...content } = found;
  const topic = await findEmailTopic(em, projectId, topicId);
  const source = { ...content, topic, isTracked: isEmailTracked(tracking, content.type, trackingAllowed) };
  const urls = deps.links.recipientUrls({ contactId, emailId, projectId });
  return { ...source, projectId, contact, urls, message: await render(deps, source, { contact, urls }) };
}

const CID = /\bcid:([^"'\s)>]+)/gi;

/** Puts the images that lie in the message itself (RFC 2392) into the HTML. */
export async function withImages(em: Em, html: string, setId: string): Promise<string> {
  const images = await query(
    em,
    sql`
      select content_id as "contentId", content_type as "contentType", content from attachment
      where set_id = ${setId} and content_id is not null and content_type ~ '^image/[a-z0-9.+-]+$'`,
    { contentId: notNull(tables.attachment.contentId), ...pick(tables.attachment, 'contentType', 'content') },
  );
  const urls = new Map(
    images.map(({ contentId, contentType, content }) => [
      contentId,
      `data:${contentType};base64,${content.toString('base64')}`,
    ]),
  );
  return html.replace(CID, (reference, id: string) => urls.get(id) ?? reference);
}

/**
 * Puts a campaign into the archive of its project, or takes it out.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function setCampaignPublic(
  em: Em,
  projectId: string,
  campaignId: string,
  isPublic: boolean,
): Promise<Campaign> {
  await query(
    em,
    sql`
      update campaign set is_public = ${isPublic}, updated_at = now()
      where id = ${campaignId} and project_id = ${projectId} and is_public <> ${isPublic}`,
  );
  return findCampaign(em, projectId, campaignId);
}

/** The campaigns that a page of the archive lists. */
const ARCHIVE_PAGE = 50;

const LISTED = { ...pick(tables.campaign, 'id', 'subject'), sentAt: notNull(tables.campaign.sentAt) };

export interface ArchivedCampaign {
  id: string;
  /** The subject as it is without a contact. */
  title: string;
  sentAt: Date;
}

export interface Archive {
  brand: Brand;
  campaigns: ArchivedCampaign[];
  /** Where the next page begins; undefined on the last page. */
  next?: string;
}

/** The project of an archive. @throws AppError RESOURCE_NOT_FOUND for a key that does not hold or a disabled project */
async function findArchive(em: Em, publicKey: string): Promise<KeyOwner> {
  const project = await findPublicKeyOwner(em, publicKey);
  if (!project) throw new AppError('RESOURCE_NOT_FOUND');
  return project;
}

const IS_ARCHIVED = sql`c.is_public and c.status = ${campaignStatus.SENT} and c.sent_at is not null`;

/** An email of the archive has no footer, because that speaks to a recipient, and is not tracked. */
async function renderForEverybody(
  deps: ViewDeps,
  content: Pick<EmailSource, 'subject' | 'html' | 'text' | 'preheader' | 'brand'>,
  archiveUrl: string,
) {
  const { instanceId, isOwnLink } = deps.links.recipientUrls({ contactId: NIL, emailId: NIL, projectId: NIL });
  const urls = {
    unsubscribeUrl: archiveUrl,
    subscribeUrl: archiveUrl,
    manageUrl: archiveUrl,
    viewUrl: archiveUrl,
    openUrl: '',
    hiddenUrl: '',
    clickUrl: () => archiveUrl,
    unsubscribeAddress: undefined,
    instanceId,
    isOwnLink,
  };
  const contact = { id: NIL, email: '', subscribed: true, data: {} };
  return render(deps, { ...content, type: 'HEADLESS', topic: null, isTracked: false }, { contact, urls });
}

/** Where an archive is, and the public key of its project. */
export interface ArchiveRef {
  publicKey: string;
  archiveUrl: string;
}

/**
 * A page of the campaigns that a project shows to everybody, newest first.
 * @param after the id of the last campaign of the page before
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function readArchive(
  deps: ViewDeps,
  em: Em,
  { publicKey, archiveUrl }: ArchiveRef,
  after?: string,
): Promise<Archive> {
  const { id: projectId, brand } = await findArchive(em, publicKey);
  const earlier =
    after === undefined
      ? sql`true`
      : sql`(c.sent_at, c.id) < (
          select l.sent_at, l.id from campaign l where l.id = ${after} and l.project_id = ${projectId})`;
  const rows = await query(
    em,
    sql`
      select ${columnsOf(LISTED, 'c')} from campaign c where c.project_id = ${projectId} and ${IS_ARCHIVED} and ${earlier}
      order by c.sent_at desc, c.id desc limit ${ARCHIVE_PAGE + 1}`,
    LISTED,
  );
  const campaigns: ArchivedCampaign[] = [];
  for (const { id, subject, sentAt } of rows.slice(0, ARCHIVE_PAGE)) {
    const message = await renderForEverybody(deps, { subject, html: '', text: '', brand }, archiveUrl);
    campaigns.push({ id, sentAt, title: message?.subject || subject });
  }
  const last = rows.length > ARCHIVE_PAGE ? campaigns.at(-1) : undefined;
  return { brand, campaigns, ...(last && { next: last.id }) };
}

/** A campaign of the archive, rendered without a contact. @throws AppError RESOURCE_NOT_FOUND */
export async function viewArchivedCampaign(
  deps: ViewDeps,
  em: Em,
  { publicKey, archiveUrl }: ArchiveRef,
  campaignId: string,
): Promise<ViewedEmail> {
  const { id: projectId, brand } = await findArchive(em, publicKey);
  const content = await queryOne(
    em,
    sql`
      select ${columnsOf(CONTENT, 'c')} from campaign c
      where c.id = ${campaignId} and c.project_id = ${projectId} and ${IS_ARCHIVED}`,
    CONTENT,
  );
  const message = content && (await renderForEverybody(deps, { ...content, brand }, archiveUrl));
  if (!message) throw new AppError('RESOURCE_NOT_FOUND');
  return viewed(message, brand);
}
