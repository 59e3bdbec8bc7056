import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import { TemplateLimitError, TemplateSyntaxError } from '../../shared/pure/templates/template-language.ts';
import {
  claimCampaignPage,
  loadPendingRecipients,
  loadSendingCampaign,
  recordCampaignResults,
  type CampaignContent,
  type CampaignPage,
  type PendingRecipient,
} from '../../shared/domain/campaigns/campaign-delivery.ts';
import { markCampaignCancelled } from '../../shared/domain/campaigns/campaign-state.ts';
import type { SendingIdentities } from '../../shared/domain/domains/sending-identities.ts';
import { readSendPolicy } from '../../shared/domain/emails/send-budget.ts';
import type { ActivityDeps } from '../deps.ts';
import { projectDisabledFailure } from '../failures.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { createResultBuffer, type ResultBuffer } from '../emails/result-buffer.ts';
import { createUnmade, SEND_STALL_MS, sendMails, type UnmadeMessages } from '../emails/send-loop.ts';
import { comeBackFor, sliceSize, takeReservation, type Pace, type Throttle } from '../emails/send-throttle.ts';
import { createCampaignComposers, type CampaignComposer } from './campaign-composer.ts';

export interface PageResult {
  /** Results that the last attempt recorded, by kind. */
  sent: number;
  deferred: number;
  /** The campaign is not being sent any more. */
  isStopped: boolean;
}

const STOPPED: PageResult = { sent: 0, deferred: 0, isStopped: true };
const RESULTS_MAX = 64;
const RESULTS_AGE_MS = 50;

/** One attempt at a page. */
interface PageAttempt {
  page: CampaignPage;
  composer: CampaignComposer;
  buffer: ResultBuffer;
  result: PageResult;
  unmade: UnmadeMessages;
  signal: AbortSignal;
}

/** Creates the activity that sends the pages of campaigns. */
export function createPageSender(deps: ActivityDeps & { identities: SendingIdentities }) {
  const em = () => deps.orm.em.fork();
  const composerOf = createCampaignComposers(deps);
  /** They share the connections; what each has in flight beyond its share would only wait in memory. */
  let pagesAtWork = 0;

  /** What cannot be read as a template today cannot tomorrow: the campaign ends with the reason. */
  async function composerOrEnd(campaign: CampaignContent): Promise<CampaignComposer | undefined> {
    try {
      return await composerOf(campaign);
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError || error instanceof TemplateLimitError)) throw error;
      const reason = `The message cannot be rendered: ${error.message}. Correct it in a copy of the campaign and send that.`;
      await markCampaignCancelled(em(), campaign.id, reason);
      return undefined;
    }
  }

  async function sendAll(attempt: PageAttempt, recipients: PendingRecipient[], pace?: Pace): Promise<void> {
    await sendMails(attempt.composer.prepareAll(recipients), {
      pool: deps.smtp,
      urgency: 'campaign',
      buffer: attempt.buffer,
      unmade: attempt.unmade,
      concurrency: Math.ceil(deps.smtp.capacity / pagesAtWork),
      config: deps.config,
      mailCount: recipients.length,
      signal: attempt.signal,
      shouldStop: () => attempt.result.isStopped,
      pace,
    });
  }

  const isOver = ({ result, signal }: PageAttempt): boolean => result.isStopped || signal.aborted;

  async function sendUnlimited(attempt: PageAttempt): Promise<void> {
    for await (const recipients of loadPendingRecipients(em, attempt.page)) {
      await sendAll(attempt, recipients);
      if (isOver(attempt)) return;
    }
  }

  /** Sends what goes in a few seconds. @returns the failure that has the attempt repeated for the rest */
  async function sendSlice(attempt: PageAttempt, throttle: Throttle): Promise<ApplicationFailure | undefined> {
    for await (const recipients of loadPendingRecipients(em, attempt.page, sliceSize(throttle.ratePerSecond))) {
      const count = recipients.filter((recipient) => !attempt.composer.refusalOf(recipient)).length;
      await sendAll(attempt, recipients, count > 0 ? await takeReservation(throttle, count) : undefined);
      const left = (recipients[0]?.leftCount ?? 0) - recipients.length;
      return left > 0 && !isOver(attempt) ? comeBackFor(throttle, left) : undefined;
    }
    return undefined;
  }

  /**
   * Sends to the recipients of a page that are due. Safe to run twice, and safe beside an attempt that was thought dead:
   * that one loses the page and may record nothing more. A page of a throttled project takes many attempts, none of
   * which holds its slot for more than a few seconds.
   */
  return async function sendRecipientPage(page: CampaignPage): Promise<PageResult> {
    const context = Context.current();
    const campaign = await loadSendingCampaign(em(), page.campaignId);
    const policy = campaign && (await readSendPolicy(em(), campaign.projectId, deps.config.EMAIL_RATE_PER_SECOND));
    if (!policy) return STOPPED;
    const { projectId } = campaign;
    const { ratePerSecond } = policy;
    if (policy.isDisabled) throw projectDisabledFailure(projectId, deps.config.DELIVERY_PAUSE_SECONDS);
    const composer = await composerOrEnd(campaign);
    if (!composer) return STOPPED;

    const unmade = createUnmade();
    const held = { ...page, claimToken: randomUUID() };
    await claimCampaignPage(em(), page, held.claimToken);
    const result: PageResult = { sent: 0, deferred: 0, isStopped: false };
    const frame = { from: campaign.from, subject: campaign.subject };
    const retrySeconds = deps.config.DELIVERY_RETRY_SECONDS;
    const work = async (signal: AbortSignal, advance: () => void): Promise<ApplicationFailure | undefined> => {
      const buffer = createResultBuffer({
        maxItems: RESULTS_MAX,
        maxAgeMs: RESULTS_AGE_MS,
        signal,
        async record(results) {
          const { mayContinue } = await recordCampaignResults(em(), held, frame, projectId, results, retrySeconds);
          if (!mayContinue) result.isStopped = true;
          result.sent += results.filter((item) => item.verdict === 'sent').length;
          result.deferred += results.filter((item) => ['deferred', 'uncertain'].includes(item.verdict)).length;
          advance();
        },
      });
      const attempt: PageAttempt = { page, composer, buffer, result, unmade, signal };
      pagesAtWork += 1;
      try {
        if (ratePerSecond > 0)
          return await sendSlice(attempt, { em, projectId, ratePerSecond, isUrgent: false, signal });
        await sendUnlimited(attempt);
        return undefined;
      } finally {
        pagesAtWork -= 1;
        await buffer.drain();
      }
    };
    // The heartbeat lasts until the results are recorded, which may have to wait for the database.
    const again = await withHeartbeat(deps, work, {
      progress: () => ({ sent: result.sent }),
      stallMs: SEND_STALL_MS,
    });
    context.cancellationSignal.throwIfAborted();
    if (result.isStopped) return result;
    if (unmade.causes.length > 0) throw unmade.causes[0];
    if (again) throw again;
    return result;
  };
}
