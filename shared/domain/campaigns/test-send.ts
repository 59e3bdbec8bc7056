import { v7 as uuidV7 } from 'uuid';
import type { LinkSigner } from '../../platform/links.ts';
import { bulkHeaders, compileMail } from '../../platform/mail/mail-content.ts';
import { ContactEntity } from '../contacts/contact.entity.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import { queueMails } from '../emails/stored-mail.ts';
import type { Em } from '../orm.ts';
import { findCampaign } from './campaigns.ts';

/** Stands for the contact when the address of a test send is not one. */
const SAMPLE_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Sends a campaign's mail to one address, rendered for the contact of that address where there is one, and marked
 * "[Test]". It creates no contact and counts nowhere. Wake the dispatcher afterwards.
 * @returns the id of the e-mail record
 * @throws AppError CAMPAIGN_NOT_FOUND, SENDER_DOMAIN_REFUSED
 */
export async function queueTestMail(
  em: Em,
  projectId: string,
  campaignId: string,
  address: string,
  links: LinkSigner,
): Promise<string> {
  const campaign = await findCampaign(em, projectId, campaignId);
  await assertSenderDomain(em, projectId, campaign.from);
  const contact = await em.findOne(ContactEntity, { projectId, email: address });
  const emailId = uuidV7();
  const urls = links.recipientUrls({ contactId: contact?.id ?? SAMPLE_ID, emailId });
  const mail = compileMail({ subject: campaign.subject, html: campaign.body, type: campaign.type });
  const message = mail.render({
    contact: contact ?? { id: SAMPLE_ID, email: address, subscribed: true, data: {} },
    urls,
  });
  await em.transactional((tx) =>
    queueMails(
      tx,
      {
        projectId,
        templateId: null,
        from: { address: campaign.from, name: campaign.fromName ?? undefined },
        replyTo: campaign.replyTo ?? undefined,
        attachments: [],
      },
      [
        {
          ...message,
          emailId,
          contactId: contact?.id ?? null,
          to: { address },
          subject: `[Test] ${message.subject}`,
          headers: bulkHeaders(campaign.type, urls.unsubscribeUrl),
        },
      ],
    ),
  );
  return emailId;
}
