import { activeTrace } from '../../platform/tracing/spans.ts';
import type { Em } from '../../database/sql.ts';
import type { EmailSource, EmailToSend } from '../../sending/ports.ts';
import type { CampaignComposer } from './campaign-composer.ts';
import {
  claimCampaignPage,
  countPendingRecipients,
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
  /** Announces addresses that emails are about to go to. */
  expect: (addresses: string[], projectId: string) => Promise<void>;
  /** Learns what has changed since the page was begun. @throws what ends the attempt */
  refresh: () => Promise<unknown>;
}

/**
 * The number of emails of a page with their own span. A campaign may have a million; the span of the page counts all.
 */
const TRACED_EMAILS = 5;

/** Creates the source of the due emails of a page. */
export function createPageSource(page: CampaignPage, options: PageSourceOptions): EmailSource<EmailClaim> {
  const { em, composer, isPaused, expect, refresh } = options;
  const { projectId, from, subject, topic, totalRecipients } = options.campaign;
  const { campaignId, firstSeq } = page;
  const attempt = activeTrace();
  let traced = 0;
  const goesNow = (recipient: PendingRecipient): boolean =>
    !composer.withoutEmail(recipient) && !isPaused(recipient.toAddress ?? '', projectId);
  async function prepare(recipients: PendingRecipient[]): Promise<Iterable<EmailToSend>> {
    await expect(
      recipients.filter(goesNow).map(({ toAddress }) => toAddress ?? ''),
      projectId,
    );
    return composer.prepareAll(recipients);
  }
  async function* prepareAll(isTaken?: (emailId: string) => boolean): AsyncGenerator<Iterable<EmailToSend>> {
    for await (const recipients of loadPendingRecipients(em, page, topic?.id))
      yield await prepare(recipients.filter(({ emailId }) => !isTaken?.(emailId)));
  }
  async function* prepareAgain(isTaken: (emailId: string) => boolean): AsyncGenerator<Iterable<EmailToSend>> {
    await refresh();
    yield* prepareAll(isTaken);
  }
  return {
    urgency: 'campaign',
    claimWith: (claimToken) => ({
      scope: `${campaignId}-${firstSeq}`,
      claimToken,
      projectId,
      page: { ...page, heading: { from, subject } },
    }),
    claim: ({ claimToken }) => claimCampaignPage(em(), page, claimToken),
    async *parts(limit) {
      if (limit === undefined) {
        const size = page.lastSeq - firstSeq + 1;
        const isAll = size === totalRecipients;
        yield { paced: 0, left: 0, batches: [{ size, load: prepareAll, again: prepareAgain, isAll }] };
        return;
      }
      for await (const recipients of loadPendingRecipients(em, page, topic?.id, limit)) {
        yield {
          paced: recipients.filter(goesNow).length,
          left: await countPendingRecipients(em(), page, (recipients.at(-1)?.seq ?? page.lastSeq) + 1),
          batches: [{ size: recipients.length, load: () => prepare(recipients) }],
        };
      }
    },
    traceOf: () => (attempt && traced++ < TRACED_EMAILS ? { parent: attempt } : undefined),
  };
}
