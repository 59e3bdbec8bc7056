import { readClock } from '../../database/clock.ts';
import { NIL } from 'uuid';
import { badRequest } from '../../pure/app-error.ts';
import { EDITABLE_CAMPAIGN_STATUSES } from '../../pure/campaigns/campaign-status.ts';
import { needsSubscription } from '../../pure/emails/email-types.ts';
import type { Brand } from '../../pure/brand.ts';
import type { TrackingMode } from '../../pure/project.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import type { ProviderFinder } from '../../sending/verdict/mx-provider.ts';
import { inSnapshot, type Em } from '../../database/sql.ts';
import { findEmailTopic } from '../topics/email-topics.ts';
import { findFirstRecipient, type FirstRecipient } from './audience.ts';
import { findCampaign } from './campaigns.ts';
import { countAudience, countEmptyPlaceholders } from './check-audience.ts';
import { checkContent } from './check-content.ts';
import { forecastWarmUp } from './check-warm-up.ts';
import { checkSender, readSendingSpeed } from './check-sender.ts';

export interface CheckDeps {
  links: LinkSigner;
  providerOf: ProviderFinder;
  publicUrl: string;
  ratePerSecond: number;
}

/** Used in place of the first recipient when there is none. */
const SAMPLE: FirstRecipient = { id: NIL, email: 'somebody@example.com', subscribed: true, data: {} };

/**
 * Predicts what would happen if a campaign were sent now. It reads one snapshot and changes nothing.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST when its sending has begun or its condition makes no sense
 */
export async function checkCampaign(
  em: Em,
  project: { id: string; tracking: TrackingMode; brand: Brand },
  campaignId: string,
  { links, providerOf, publicUrl, ratePerSecond }: CheckDeps,
) {
  const { id: projectId } = project;
  return inSnapshot(em, async (tx) => {
    const campaign = await findCampaign(tx, projectId, campaignId);
    const { status, type, from } = campaign;
    if (!EDITABLE_CAMPAIGN_STATUSES.includes(status)) {
      throw badRequest(`A campaign that is ${status} cannot be checked before it is sent`, { details: { status } });
    }
    const asOf = await readClock(tx);
    const audience = await countAudience(tx, campaign, asOf);
    const contact = (await findFirstRecipient(tx, campaign, asOf)) ?? SAMPLE;
    const urls = links.recipientUrls({ contactId: contact.id, emailId: NIL, projectId });
    const topic = await findEmailTopic(tx, projectId, campaign.topicId);
    const content = await checkContent(campaign, topic, project, { contact, urls });
    return {
      audience,
      content,
      sender: await checkSender(tx, projectId, from),
      placeholders: await countEmptyPlaceholders(tx, campaign, content.placeholders, asOf),
      /** Whether the email must offer one-click unsubscribing, and whether its links are https, as RFC 8058 requires. */
      oneClick: { isRequired: needsSubscription(type), isHttps: publicUrl.startsWith('https:') },
      speed: await readSendingSpeed(tx, projectId, ratePerSecond),
      /** Set when it takes more than a day, because sources warm up. */
      warmUp: await forecastWarmUp(tx, campaign, asOf, providerOf),
    };
  });
}

export type CampaignCheck = Awaited<ReturnType<typeof checkCampaign>>;
