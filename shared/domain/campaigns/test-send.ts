import { spellingsOf } from '../../pure/emails/email-address.ts';
import { NIL, v7 as uuidV7 } from 'uuid';
import type { Brand } from '../../pure/brand.ts';
import { validationError } from '../../pure/app-error.ts';
import { TemplateLimitError } from '../../pure/templates/template-language.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import { compileEmail, type CompiledEmail } from '../../sending/compose/compiled-email.ts';
import { createMessageHeaders } from '../../sending/compose/message-headers.ts';
import { ContactEntity } from '../contacts/contact.entity.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import { queueEmails } from '../emails/stored-email.ts';
import { findEmailTopic } from '../topics/email-topics.ts';
import { inTransaction, type Em } from '../../database/sql.ts';
import { findCampaign } from './campaigns.ts';

/** Renders a test email. @throws AppError VALIDATION_ERROR when the email grows past the limits of rendering */
function renderTest(
  email: CompiledEmail,
  scope: Parameters<CompiledEmail['render']>[0],
): ReturnType<CompiledEmail['render']> {
  try {
    return email.render(scope);
  } catch (error) {
    if (!(error instanceof TemplateLimitError)) throw error;
    throw validationError([{ field: 'body', message: error.message, code: 'too_big' }]);
  }
}

/**
 * Queues a campaign's email to one address, rendered for the contact of that address if there is one, and marked
 * "[Test]". It creates no contact and is not counted in the campaign.
 * @returns the id of the email record
 * @throws AppError CAMPAIGN_NOT_FOUND, SENDER_DOMAIN_REFUSED, VALIDATION_ERROR
 */
export async function queueTestEmail(
  em: Em,
  project: { id: string; brand: Brand },
  campaignId: string,
  address: string,
  links: LinkSigner,
): Promise<string> {
  const { id: projectId, brand } = project;
  const campaign = await findCampaign(em, projectId, campaignId);
  const { type, from } = campaign;
  const topic = await findEmailTopic(em, projectId, campaign.topicId);
  await assertSenderDomain(em, projectId, from);
  const contact = await em.findOne(ContactEntity, { projectId, email: spellingsOf(address) });
  const emailId = uuidV7();
  const urls = links.recipientUrls({ contactId: contact?.id ?? NIL, emailId, projectId });
  const email = await compileEmail({
    subject: campaign.subject,
    html: campaign.body,
    text: campaign.text,
    preheader: campaign.preheader,
    type,
    isTracked: false,
    brand,
    topic,
  });
  const message = renderTest(email, {
    contact: contact ?? { id: NIL, email: address, subscribed: true, data: {} },
    urls,
  });
  const headersOf = createMessageHeaders({
    type,
    projectId,
    from,
    source: 'campaign',
    sourceId: campaignId,
    listName: brand.displayName,
    topic,
  });
  await inTransaction(em, (tx) =>
    queueEmails(
      tx,
      {
        projectId,
        templateId: null,
        topic,
        from: { address: campaign.from, name: campaign.fromName ?? brand.displayName ?? undefined },
        replyTo: campaign.replyTo ?? undefined,
      },
      [
        {
          ...message,
          emailId,
          contactId: contact?.id ?? null,
          to: { address },
          subject: `[Test] ${message.subject}`,
          headers: headersOf(urls),
        },
      ],
    ),
  );
  return emailId;
}
