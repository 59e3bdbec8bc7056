import { Context } from '@temporalio/activity';
import type { Hold } from '../../shared/pure/emails/hold.ts';
import { TemplateLimitError, TemplateSyntaxError } from '../../shared/pure/templates/template-language.ts';
import { annotate } from '../../shared/platform/tracing/spans.ts';
import { createCampaignComposers, type CampaignComposer } from '../../shared/domain/campaigns/campaign-composer.ts';
import {
  loadSendingCampaign,
  noteHold,
  type CampaignContent,
  type CampaignPage,
} from '../../shared/domain/campaigns/campaign-delivery.ts';
import { markCampaignCancelled } from '../../shared/domain/campaigns/campaign-state.ts';
import { complaintHold, holdCampaign } from '../../shared/domain/campaigns/complaint-hold.ts';
import { createPageSource } from '../../shared/domain/campaigns/page-source.ts';
import type { SendingIdentities } from '../../shared/domain/domains/sending-identities.ts';
import { findExcessiveRate } from '../../shared/domain/emails/complaint-rates.ts';
import type { Recorded } from '../../shared/sending/sender.ts';
import { SmtpUnavailableError } from '../../shared/sending/transport/smtp-pool.ts';
import { policyOf, withSending, type SendingDeps } from '../emails/send-attempt.ts';
import { complaintHoldFailure } from '../failures.ts';

export interface PageResult {
  /** The results that the last attempt recorded. */
  sent: number;
  deferred: number;
  /** The campaign is not being sent any more. */
  isStopped: boolean;
  /** Why emails of the page wait, if some do. */
  waiting?: Hold;
}

type PageDeps = SendingDeps & { identities: SendingIdentities };

const STOPPED: PageResult = { sent: 0, deferred: 0, isStopped: true };
/** The pause after which a campaign that holds because of complaints is checked again. */
const COMPLAINT_PAUSE_MS = 30_000;

/** @throws ApplicationFailure while too many recipients report emails of the project as spam */
async function holdForComplaints({ orm, config, logger }: PageDeps, campaign: CampaignContent) {
  const { COMPLAINT_RATE_MAX: rateMax, COMPLAINT_RATE_MIN_EMAILS: emailsMin } = config;
  if (rateMax === 0 || campaign.complaintsAccepted) return;
  const rate = await findExcessiveRate(orm.em.fork(), campaign.projectId, { rateMax, emailsMin });
  if (!rate) return;
  const until = new Date(Date.now() + COMPLAINT_PAUSE_MS);
  if (await holdCampaign(orm.em.fork(), campaign, complaintHold(campaign.id, rate, rateMax, until))) {
    logger.warn({ campaignId: campaign.id, ...rate }, 'a campaign holds: too many recipients complain');
  }
  throw complaintHoldFailure(campaign.id, COMPLAINT_PAUSE_MS);
}

/** Creates the activity that sends pages of campaigns. */
export function createPageSender(deps: PageDeps) {
  const em = () => deps.orm.em.fork();
  const composerOf = createCampaignComposers(deps);

  /**
   * Creates the composer of a campaign. An invalid template stays invalid, so the campaign ends with the reason.
   * @returns undefined when the campaign has ended
   */
  async function composerOrEnd(campaign: CampaignContent): Promise<CampaignComposer | undefined> {
    try {
      return await composerOf(campaign);
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError || error instanceof TemplateLimitError)) throw error;
      const advice = 'Correct it in a copy of the campaign and send that.';
      const reason = `The message cannot be rendered: ${error.message}. ${advice}`;
      await markCampaignCancelled(em(), campaign.id, reason);
      return undefined;
    }
  }

  /**
   * Stores with the campaign that no SMTP server answers, so that its recipients show why they wait.
   * @throws the error
   */
  async function noteUnavailable(campaignId: string, error: unknown): Promise<never> {
    if (error instanceof SmtpUnavailableError) {
      await noteHold(em(), campaignId, deps.permit.noRelay(deps.config.DELIVERY_PAUSE_SECONDS * 1_000));
    }
    throw error;
  }

  /**
   * Sends to the due recipients of a page. It is safe to run twice, even beside an attempt that was thought dead: that
   * attempt loses the page and can record nothing more. A page of a throttled project takes many attempts, each of
   * which occupies its slot for a few seconds only.
   */
  return async function sendRecipientPage(page: CampaignPage): Promise<PageResult> {
    const { cancellationSignal } = Context.current();
    const campaign = await loadSendingCampaign(em(), page.campaignId);
    const policy = campaign && (await policyOf(deps, campaign.projectId));
    if (!policy) return STOPPED;
    await holdForComplaints(deps, campaign);
    const composer = await composerOrEnd(campaign);
    if (!composer) return STOPPED;

    annotate({
      'everpost.campaign.id': page.campaignId,
      'everpost.page.first': page.firstSeq,
      'everpost.page.last': page.lastSeq,
    });
    const source = createPageSource(page, {
      em,
      campaign,
      composer,
      isPaused: (to, projectId) => deps.permit.isPaused(to, projectId),
      expect: (addresses, projectId) => deps.permit.expect(projectId, 'marketing', addresses),
      refresh: () => policyOf(deps, campaign.projectId),
    });
    const { projectId } = campaign;
    const stream = { projectId, ratePerSecond: policy.ratePerSecond, isUrgent: false, stream: 'campaign' } as const;
    let sent = 0;
    const { isStopped, putOff, hold, again } = await withSending(
      deps,
      stream,
      (attempt) => {
        const advance = (recorded: Recorded): void => {
          ({ sent } = recorded);
          attempt.advance(recorded);
        };
        return deps
          .send(source, { ...attempt, advance })
          .catch((error: unknown) => noteUnavailable(campaign.id, error));
      },
      () => ({ sent }),
    );
    annotate({ 'everpost.emails.sent': sent, 'everpost.emails.deferred': putOff });
    cancellationSignal.throwIfAborted();
    if (again !== undefined && !isStopped) throw again;
    return { sent, deferred: putOff, isStopped, ...(hold && { waiting: hold }) };
  };
}
