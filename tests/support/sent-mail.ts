import type { Em } from '../../shared/database/sql.ts';
import { v7 as uuidV7 } from 'uuid';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from './entities/email.entity.ts';

export interface SentMail {
  emailId: string;
  contactId: string;
  campaignId: string;
  projectId: string;
  address: string;
}

export interface SentMailOptions {
  status?: 'SENT' | 'BOUNCED' | 'FAILED';
  /** The data of the contact. */
  data?: Record<string, unknown>;
  replyTo?: string;
}

/** Stores a campaign that has sent one email to one contact. */
export async function createSentMail(
  em: Em,
  projectId: string,
  { status = 'SENT', data = {}, replyTo }: SentMailOptions = {},
): Promise<SentMail> {
  const [contactId, campaignId, emailId] = [uuidV7(), uuidV7(), uuidV7()];
  const address = `${emailId}@mail.test`;
  em.create(ContactEntity, { id: contactId, projectId, email: address, subscribed: true, data });
  em.create(CampaignEntity, {
    id: campaignId,
    projectId,
    name: 'N',
    subject: 'News',
    body: 'B',
    from: 'news@example.com',
    type: 'MARKETING',
    status: 'SENT',
    audienceType: 'ALL',
    totalRecipients: 1,
    sentCount: 1,
    replyTo,
  });
  em.create(EmailEntity, {
    id: emailId,
    projectId,
    contactId,
    campaignId,
    campaignSeq: 1,
    toAddress: address,
    status,
    createdAt: new Date(),
  });
  await em.flush();
  return { emailId, contactId, campaignId, projectId, address };
}
