import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { AppError } from '../../shared/pure/app-error.ts';
import type { CampaignStatus } from '../../shared/pure/campaign-status.ts';
import { domainOf } from '../../shared/pure/email-address.ts';
import { needsSubscription } from '../../shared/pure/email-types.ts';
import { isMailTracked } from '../../shared/pure/project.ts';
import { TemplateLimitError } from '../../shared/pure/template-language.ts';
import {
  claimCampaignPage,
  loadPendingRecipients,
  loadSendingCampaign,
  recordCampaignResults,
  type CampaignContent,
  type CampaignPage,
  type PendingRecipient,
} from '../../shared/domain/campaigns/campaign-delivery.ts';
import {
  beginScheduledCampaign,
  closeRecipients,
  finishCampaign,
  markCampaignCancelled,
  readCampaignState,
} from '../../shared/domain/campaigns/campaign-state.ts';
import { planDeferredRound, type DeferredRound } from '../../shared/domain/campaigns/deferred-pages.ts';
import { freezeNextRecipients, type FreezeProgress } from '../../shared/domain/campaigns/freeze-audience.ts';
import { isTooSlow } from '../../shared/domain/database-errors.ts';
import type { SendingIdentities, SendingIdentity } from '../../shared/domain/domains/sending-identities.ts';
import type { DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';
import { readSendPolicy } from '../../shared/domain/emails/send-budget.ts';
import { bulkHeaders, createMailCompiler, type MailContent } from '../../shared/platform/mail/mail-content.ts';
import { createEnvelopes } from '../../shared/platform/mail/envelopes.ts';
import { messageIdOf } from '../../shared/platform/mail/message-id.ts';
import { createMessageComposer, type MessageComposer } from '../../shared/platform/mail/mime/compose.ts';
import type { ActivityDeps } from '../deps.ts';
import { projectDisabledFailure } from '../failures.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { createResultBuffer } from '../emails/result-buffer.ts';
import { SEND_STALL_MS, sendMails, type PreparedMail } from '../emails/send-loop.ts';

export interface CampaignRef {
  campaignId: string;
}

/** What the campaign workflow decides by. Times are milliseconds since 1970. */
export interface CampaignStateView {
  status: CampaignStatus | 'DELETED';
  scheduledForMs: number | null;
  totalRecipients: number;
  isAudienceFrozen: boolean;
  /** Recipients of one page at the project's sending speed. */
  pageSize: number;
}

export interface FrozenAudience {
  totalRecipients: number;
  /** The campaign is not being sent any more. */
  isStopped: boolean;
}

export interface PageResult {
  /** Results recorded, by kind. */
  sent: number;
  deferred: number;
  /** The campaign is not being sent any more. */
  isStopped: boolean;
}

const PAGE_SIZE_MAX = 1_000;
const PAGE_SIZE_MIN = 50;
/** A page of a throttled project takes about this long, so that pages stay short whatever the speed. */
const PAGE_SECONDS = 60;
/** How old what is known of a recipient may be when the project is throttled: who unsubscribes gets no more mail. */
const STALE_SECONDS_MAX = 5;
const PART_SIZE_MIN = 10;
/** Contacts looked through in one statement. Their number follows the time a statement takes, which the condition makes. */
const FREEZE_WINDOW = { first: 10_000, min: 100, max: 100_000 } as const;
const FREEZE_MS = { fast: 500, slow: 5_000 } as const;
const RESULTS_MAX = 64;
const RESULTS_AGE_MS = 50;

function nextWindow(size: number, tookMs: number): number {
  if (tookMs > FREEZE_MS.slow) return Math.max(FREEZE_WINDOW.min, Math.floor(size / 4));
  return tookMs < FREEZE_MS.fast ? Math.min(FREEZE_WINDOW.max, size * 2) : size;
}

function audienceReason(error: AppError): string {
  return `The audience cannot be computed: ${error.message}. Correct its condition in a copy of the campaign and send that.`;
}

function pageSizeFor(ratePerSecond: number): number {
  if (ratePerSecond === 0) return PAGE_SIZE_MAX;
  return Math.min(PAGE_SIZE_MAX, Math.max(PAGE_SIZE_MIN, ratePerSecond * PAGE_SECONDS));
}

/** Parts of a page whose recipients are read just before their mails are sent. */
function* partsOf(page: CampaignPage, ratePerSecond: number): Generator<CampaignPage> {
  const size =
    ratePerSecond === 0 ? page.lastSeq - page.firstSeq + 1 : Math.max(PART_SIZE_MIN, ratePerSecond * STALE_SECONDS_MAX);
  for (let firstSeq = page.firstSeq; firstSeq <= page.lastSeq; firstSeq += size) {
    yield { ...page, firstSeq, lastSeq: Math.min(firstSeq + size - 1, page.lastSeq) };
  }
}

interface PageSender {
  campaign: CampaignContent;
  content: MailContent;
  composer: MessageComposer;
  identity: SendingIdentity;
}

/** Activities of the campaign workflow. */
export function createCampaignActivities(deps: ActivityDeps & { identities: SendingIdentities }) {
  const em = () => deps.orm.em.fork();
  const compileMail = createMailCompiler();
  const envelopeOf = createEnvelopes(deps.config);
  /** They share the connections; what each has in flight beyond its share would only wait in memory. */
  let pagesAtWork = 0;

  async function createSender(campaign: CampaignContent): Promise<PageSender> {
    return {
      campaign,
      content: await compileMail({
        subject: campaign.subject,
        html: campaign.body,
        type: campaign.type,
        isTracked: isMailTracked(campaign.tracking, campaign.type),
      }),
      composer: createMessageComposer({
        from: { address: campaign.from, name: campaign.fromName ?? undefined },
        replyTo: campaign.replyTo ?? undefined,
      }),
      identity: await deps.identities.identityOf(campaign.projectId, domainOf(campaign.from)),
    };
  }

  function undeliverable(
    recipient: PendingRecipient,
    verdict: 'skipped' | 'suppressed' | 'failed',
    error: string,
  ): DeliveryResult {
    return { emailId: recipient.emailId, subject: null, verdict, error };
  }

  function prepare(sender: PageSender, recipient: PendingRecipient): PreparedMail | DeliveryResult {
    const { campaign } = sender;
    const { toAddress, contactId, subscribed, data, suppression } = recipient;
    if (suppression !== null) return undeliverable(recipient, 'suppressed', suppression);
    if (toAddress === null || contactId === null || subscribed === null || data === null) {
      return undeliverable(recipient, 'skipped', 'the contact has been deleted');
    }
    if (needsSubscription(campaign.type) && !subscribed) {
      return undeliverable(recipient, 'skipped', 'the contact has unsubscribed');
    }
    const urls = deps.links.recipientUrls({ contactId, emailId: recipient.emailId });
    try {
      const message = sender.content.render({
        contact: { id: contactId, email: toAddress, subscribed, data },
        urls,
      });
      return {
        emailId: recipient.emailId,
        subject: message.subject === campaign.subject ? null : message.subject,
        deferrals: recipient.deferrals,
        uncertainAttempts: recipient.uncertainAttempts,
        envelope: envelopeOf({
          ...{ emailId: recipient.emailId, from: campaign.from, to: toAddress },
          returnPathHost: sender.identity.returnPathHost,
        }),
        compose() {
          const composed = sender.composer.compose({
            to: { address: toAddress },
            ...message,
            messageId: messageIdOf(recipient.emailId, campaign.from),
            date: new Date(),
            headers: bulkHeaders(campaign.type, urls.unsubscribeUrl),
          });
          return sender.identity.signer?.sign(composed) ?? composed;
        },
      };
    } catch (error) {
      if (error instanceof TemplateLimitError) return undeliverable(recipient, 'failed', error.message);
      throw error;
    }
  }

  function* prepareAll(sender: PageSender, recipients: PendingRecipient[]): Generator<PreparedMail | DeliveryResult> {
    for (const recipient of recipients) yield prepare(sender, recipient);
  }

  async function* recipientsOf(page: CampaignPage, ratePerSecond: number): AsyncGenerator<PendingRecipient[]> {
    for (const part of partsOf(page, ratePerSecond)) yield* loadPendingRecipients(em, part);
  }

  /** What makes no sense today will make none tomorrow: the campaign ends with the reason. */
  async function freezeOrEnd(campaignId: string, windowSize: number): Promise<FreezeProgress | 'too slow' | undefined> {
    try {
      return await freezeNextRecipients(em(), campaignId, windowSize);
    } catch (error) {
      if (isTooSlow(error) && windowSize > FREEZE_WINDOW.min) return 'too slow';
      if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
      await markCampaignCancelled(em(), campaignId, audienceReason(error));
      return undefined;
    }
  }

  return {
    /** The campaign's state, read from PostgreSQL, which decides what is so. */
    async readCampaign({ campaignId }: CampaignRef): Promise<CampaignStateView> {
      const state = await readCampaignState(em(), campaignId);
      if (!state) {
        return {
          status: 'DELETED',
          scheduledForMs: null,
          totalRecipients: 0,
          isAudienceFrozen: false,
          pageSize: PAGE_SIZE_MAX,
        };
      }
      const policy = await readSendPolicy(em(), state.projectId, deps.config.EMAIL_RATE_PER_SECOND);
      return {
        status: state.status,
        scheduledForMs: state.scheduledFor?.getTime() ?? null,
        totalRecipients: state.totalRecipients,
        isAudienceFrozen: state.isAudienceFrozen,
        pageSize: pageSizeFor(policy.ratePerSecond),
      };
    },

    /** Moves a scheduled campaign to SENDING when its time has come by the workflow's clock. */
    async beginCampaign({ campaignId, asOfMs }: CampaignRef & { asOfMs: number }): Promise<void> {
      await beginScheduledCampaign(em(), campaignId, new Date(asOfMs));
    },

    /** Writes the audience down. A repeated call goes on after the last chunk that was committed. */
    async freezeAudience({ campaignId }: CampaignRef): Promise<FrozenAudience> {
      let total = 0;
      return withHeartbeat(
        deps,
        async (signal, advance) => {
          for (let size: number = FREEZE_WINDOW.first; ;) {
            signal.throwIfAborted();
            const beganAt = performance.now();
            const progress = await freezeOrEnd(campaignId, size);
            if (!progress) return { totalRecipients: total, isStopped: true };
            if (progress === 'too slow') {
              size = nextWindow(size, Infinity);
              continue;
            }
            advance();
            total = progress.totalRecipients;
            if (progress.isComplete) return { totalRecipients: total, isStopped: false };
            size = nextWindow(size, performance.now() - beganAt);
          }
        },
        { progress: () => ({ totalRecipients: total }) },
      );
    },

    /**
     * Sends to the recipients of a page that have no outcome yet. Safe to run twice, and safe beside an attempt that
     * was thought dead: that one loses the page and may record nothing more.
     */
    async sendRecipientPage(page: CampaignPage): Promise<PageResult> {
      const context = Context.current();
      const campaign = await loadSendingCampaign(em(), page.campaignId);
      if (!campaign) return { sent: 0, deferred: 0, isStopped: true };
      const { projectId } = campaign;
      const policy = await readSendPolicy(em(), projectId, deps.config.EMAIL_RATE_PER_SECOND);
      if (policy.isDisabled) throw projectDisabledFailure(projectId, deps.config.DELIVERY_PAUSE_SECONDS);

      const held = { ...page, claimToken: randomUUID() };
      await claimCampaignPage(em(), page, held.claimToken);
      const sender = await createSender(campaign);
      const result: PageResult = { sent: 0, deferred: 0, isStopped: false };
      const frame = { from: campaign.from, subject: campaign.subject };
      const retrySeconds = deps.config.DELIVERY_RETRY_SECONDS;
      let onRecorded = (): void => undefined;
      const buffer = createResultBuffer({
        maxItems: RESULTS_MAX,
        maxAgeMs: RESULTS_AGE_MS,
        signal: context.cancellationSignal,
        async record(results) {
          const { mayContinue } = await recordCampaignResults(em(), held, frame, projectId, results, retrySeconds);
          if (!mayContinue) result.isStopped = true;
          result.sent += results.filter((item) => item.verdict === 'sent').length;
          result.deferred += results.filter((item) => ['deferred', 'uncertain'].includes(item.verdict)).length;
          onRecorded();
        },
      });
      const sendPage = async (signal: AbortSignal, advance: () => void): Promise<void> => {
        onRecorded = advance;
        pagesAtWork += 1;
        try {
          for await (const recipients of recipientsOf(page, policy.ratePerSecond)) {
            await sendMails(prepareAll(sender, recipients), {
              pool: deps.smtp,
              urgency: 'campaign',
              buffer,
              concurrency: Math.ceil(deps.smtp.capacity / pagesAtWork),
              config: deps.config,
              mailCount: recipients.length,
              signal,
              shouldStop: () => result.isStopped,
              ...(policy.ratePerSecond > 0 && { throttle: { em, projectId, ratePerSecond: policy.ratePerSecond } }),
            });
            if (result.isStopped || signal.aborted) break;
          }
        } finally {
          pagesAtWork -= 1;
          await buffer.drain();
        }
      };
      // The heartbeat lasts until the results are recorded, which may have to wait for the database.
      await withHeartbeat(deps, sendPage, { progress: () => ({ sent: result.sent }), stallMs: SEND_STALL_MS });
      context.cancellationSignal.throwIfAborted();
      return result;
    },

    /** The pages to try again because servers deferred mail, and when. */
    async planDeferred({
      campaignId,
      pageSize,
      fromSeq,
    }: CampaignRef & { pageSize: number; fromSeq: number }): Promise<DeferredRound> {
      return planDeferredRound(em(), campaignId, { pageSize, fromSeq });
    },

    /** Cancels the campaign, where that is still possible; with a reason when nobody asked for it. */
    async cancelCampaign({ campaignId, reason }: CampaignRef & { reason?: string }): Promise<void> {
      await markCampaignCancelled(em(), campaignId, reason ?? null);
    },

    /** Gives an outcome to what a cancelled campaign has not sent, while its last pages are still coming to an end. */
    async closeRecipients({ campaignId }: CampaignRef): Promise<void> {
      await withHeartbeat(deps, (_signal, advance) => closeRecipients(em(), campaignId, advance));
    },

    /** Closes the campaign once every recipient has an outcome. */
    async finishCampaign({ campaignId }: CampaignRef): Promise<{ status: CampaignStatus | 'DELETED' }> {
      const state = await withHeartbeat(deps, (_signal, advance) => finishCampaign(em(), campaignId, advance));
      return { status: state?.status ?? 'DELETED' };
    },
  };
}
