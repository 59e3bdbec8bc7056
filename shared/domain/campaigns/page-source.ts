import { activeTrace } from '../../platform/tracing/spans.ts';
import type { Em } from '../../database/em.ts';
import type { EmailSource } from '../../sending/ports.ts';
import type { CampaignComposer } from './campaign-composer.ts';
import {
  claimCampaignPage,
  loadPendingRecipients,
  type CampaignContent,
  type CampaignPage,
  type PendingRecipient,
} from './campaign-delivery.ts';
import type { EmailClaim } from './result-sink.ts';

export interface PageSourceOptions {
  em: () => Em;
  campaign: CampaignContent;
  composer: CampaignComposer;
  /** Whether an email to the address would be held now. */
  isPaused: (address: string, projectId: string) => boolean;
}

/**
 * The number of emails of a page with their own span. A campaign may have a million; the span of the page counts all.
 */
const TRACED_EMAILS = 5;

/** Creates the source of the due emails of a page. */
export function createPageSource(page: CampaignPage, options: PageSourceOptions): EmailSource<EmailClaim> {
  const { em, composer, isPaused } = options;
  const { projectId, from, subject } = options.campaign;
  const { campaignId, firstSeq } = page;
  const attempt = activeTrace();
  let traced = 0;
  const goesNow = (recipient: PendingRecipient): boolean =>
    !composer.withoutEmail(recipient) && !isPaused(recipient.toAddress ?? '', projectId);
  return {
    urgency: 'campaign',
    claimWith: (claimToken) => ({
      ...{ scope: `${campaignId}-${firstSeq}`, claimToken, projectId },
      page: { ...page, heading: { from, subject } },
    }),
    claim: ({ claimToken }) => claimCampaignPage(em(), page, claimToken),
    async *parts(limit) {
      for await (const recipients of loadPendingRecipients(em, page, limit)) {
        yield {
          paced: limit === undefined ? 0 : recipients.filter(goesNow).length,
          left: (recipients[0]?.leftCount ?? 0) - recipients.length,
          batches: [{ size: recipients.length, load: () => composer.prepareAll(recipients) }],
        };
      }
    },
    traceOf: () => (attempt && traced++ < TRACED_EMAILS ? { parent: attempt } : undefined),
  };
}
