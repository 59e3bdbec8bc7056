import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import { ALL } from '../../shared/sending/permit/health-key.ts';
import type { ProviderWait } from '../../shared/pure/emails/provider-wait.ts';
import { TemplateLimitError, TemplateSyntaxError } from '../../shared/pure/templates/template-language.ts';
import {
  claimCampaignPage,
  loadPendingRecipients,
  loadSendingCampaign,
  noteWait,
  recordCampaignResults,
  type CampaignContent,
  type CampaignPage,
  type ClaimedPage,
  type PendingRecipient,
} from '../../shared/domain/campaigns/campaign-delivery.ts';
import { complaintWait, holdCampaign } from '../../shared/domain/campaigns/complaint-hold.ts';
import { markCampaignCancelled } from '../../shared/domain/campaigns/campaign-state.ts';
import type { Em } from '../../shared/database/em.ts';
import type { SendingIdentities } from '../../shared/domain/domains/sending-identities.ts';
import { findExcessiveRate } from '../../shared/domain/emails/complaint-rates.ts';
import type { DeliveryResult } from '../../shared/sending/ports.ts';
import { isPutOff } from '../../shared/sending/verdict/delivery-result.ts';
import { readSendPolicy } from '../../shared/domain/emails/send-budget.ts';
import type { EmailClaim } from '../../shared/domain/campaigns/result-sink.ts';
import { SmtpUnavailableError } from '../../shared/sending/transport/smtp-pool.ts';
import { annotate } from '../../shared/platform/tracing/spans.ts';
import type { ActivityDeps } from '../deps.ts';
import { complaintHoldFailure, orSmtpUnavailable, projectDisabledFailure } from '../failures.ts';
import { withHeartbeat, type Pulse } from '../../shared/durable/attempts/heartbeat.ts';
import { createResultBuffer, type ResultBuffer } from '../../shared/sending/results/result-buffer.ts';
import type { ProviderGuard } from '../../shared/sending/permit/provider-guard.ts';
import { lastAttempt } from '../../shared/durable/attempts/failures.ts';
import { carryResults, recordCarried } from '../emails/carried-results.ts';
import type { ResultSpool } from '../../shared/sending/results/result-spool.ts';
import type { Sandbox } from '../emails/sandbox.ts';
import { SEND_STALL_MS, sendEmails, type UnmadeMessages } from '../../shared/sending/loop.ts';
import { holdFor } from '../../shared/sending/permit/relay-choice.ts';
import { traceSome, type SmtpTrace } from '../emails/smtp-trace.ts';
import { reserveNextAttempt, sliceSize, takeReservation, type Pace, type Throttle } from '../emails/send-throttle.ts';
import { createCampaignComposers, type CampaignComposer } from './campaign-composer.ts';

export interface PageResult {
  /** The results that the last attempt recorded. */
  sent: number;
  deferred: number;
  /** The campaign is not being sent any more. */
  isStopped: boolean;
  /** Why emails of the page wait, if some do. */
  waiting?: ProviderWait;
}

/** Names the recipients of a page, which are claimed together. */
const scopeOf = ({ campaignId, firstSeq }: CampaignPage): string => `${campaignId}-${firstSeq}`;

const NO_SERVER = 'No mail server answers';
const STOPPED: PageResult = { sent: 0, deferred: 0, isStopped: true };
/**
 * Results per recording. It takes a fifth less processor time than 64. A killed process loses as many results; see
 * `createResultBuffer`.
 */
const RESULTS_MAX = 128;
/**
 * The longest wait of a result. A page that shares the worker with three others has RESULTS_MAX results in this time; a
 * slower page loses fewer when the process is killed.
 */
const RESULTS_AGE_MS = 100;

/** The resources that the pages of this process share. */
interface PageSender {
  deps: ActivityDeps & { guard: ProviderGuard; sandbox: Sandbox; spool: ResultSpool<EmailClaim> };
  em: () => Em;
  composerOf: ReturnType<typeof createCampaignComposers>;
  /** Pages under way. They share the connections: further messages in flight would only wait in memory. */
  pagesAtWork: number;
}

/** One attempt at a page. */
interface PageAttempt {
  page: ClaimedPage;
  projectId: string;
  /** Emails per second of the project; 0 is no limit. */
  ratePerSecond: number;
  composer: CampaignComposer;
  /** Records the results of recipients, as long as this attempt holds the page. */
  record: (results: DeliveryResult[]) => Promise<{ mayContinue: boolean }>;
  result: PageResult;
  unmade: UnmadeMessages;
  trace: SmtpTrace;
}

/** An attempt while it is sending. */
interface RunningAttempt extends PageAttempt {
  buffer: ResultBuffer;
  signal: AbortSignal;
}

/**
 * Creates the composer of a campaign. An invalid template stays invalid, so the campaign ends with the reason.
 * @returns undefined when the campaign has ended
 */
async function composerOrEnd(sender: PageSender, campaign: CampaignContent): Promise<CampaignComposer | undefined> {
  try {
    return await sender.composerOf(campaign);
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError || error instanceof TemplateLimitError)) throw error;
    const advice = 'Correct it in a copy of the campaign and send that.';
    const reason = `The message cannot be rendered: ${error.message}. ${advice}`;
    await markCampaignCancelled(sender.em(), campaign.id, reason);
    return undefined;
  }
}

async function sendAll(
  { deps, pagesAtWork }: PageSender,
  attempt: RunningAttempt,
  recipients: PendingRecipient[],
  pace?: Pace,
): Promise<void> {
  await sendEmails(attempt.composer.prepareAll(recipients), {
    pool: deps.smtp,
    guard: deps.guard,
    metrics: deps.metrics,
    sandbox: deps.sandbox,
    urgency: 'campaign',
    projectId: attempt.projectId,
    buffer: attempt.buffer,
    unmade: attempt.unmade,
    concurrency: Math.ceil(deps.smtp.capacity / pagesAtWork),
    retrySeconds: deps.config.DELIVERY_RETRY_SECONDS,
    mailCount: recipients.length,
    signal: attempt.signal,
    shouldStop: () => attempt.result.isStopped,
    pace,
    trace: attempt.trace,
  });
}

function isOver({ result, signal }: RunningAttempt): boolean {
  return result.isStopped || signal.aborted;
}

async function sendUnlimited(sender: PageSender, attempt: RunningAttempt): Promise<void> {
  for await (const recipients of loadPendingRecipients(sender.em, attempt.page)) {
    await sendAll(sender, attempt, recipients);
    if (isOver(attempt)) return;
  }
}

/**
 * Sends the emails of a few seconds at the speed of the project.
 * @returns the failure that makes Temporal repeat the attempt for the rest
 */
async function sendSlice(sender: PageSender, attempt: RunningAttempt): Promise<ApplicationFailure | undefined> {
  const { projectId, ratePerSecond, signal } = attempt;
  const throttle: Throttle = { em: sender.em, projectId, ratePerSecond, isUrgent: false, signal };
  for await (const recipients of loadPendingRecipients(sender.em, attempt.page, sliceSize(ratePerSecond))) {
    const count = recipients.filter(
      (recipient) =>
        !attempt.composer.withoutEmail(recipient) && !sender.deps.guard.isPaused(recipient.toAddress ?? '', projectId),
    ).length;
    await sendAll(sender, attempt, recipients, count > 0 ? await takeReservation(throttle, count) : undefined);
    const left = (recipients[0]?.leftCount ?? 0) - recipients.length;
    return left > 0 && !isOver(attempt) ? reserveNextAttempt(throttle, left) : undefined;
  }
  return undefined;
}

/**
 * Sends the emails and records the results.
 * @returns the failure that makes Temporal repeat the attempt for the rest
 */
async function sendAndRecord(
  sender: PageSender,
  attempt: PageAttempt,
  signal: AbortSignal,
  { advance, wait }: Pulse,
): Promise<ApplicationFailure | undefined> {
  const { result, page } = attempt;
  const { sandbox, spool } = sender.deps;
  const buffer = createResultBuffer({
    maxItems: RESULTS_MAX,
    waitingMax: RESULTS_MAX,
    maxAgeMs: RESULTS_AGE_MS,
    signal,
    onWait(error, ended) {
      wait(error);
      spool.hold(scopeOf(page), ended);
    },
    async record(results) {
      const { mayContinue } = await attempt.record(results);
      if (!mayContinue) result.isStopped = true;
      result.sent += results.filter((item) => item.verdict === 'sent').length;
      result.deferred += results.filter(isPutOff).length;
      const held = results.findLast((item) => item.held)?.held;
      if (held) result.waiting = held.wait;
      sandbox.noteRecorded(results);
      advance();
    },
    async keep(results) {
      carryResults(page.claimToken, results);
      const { claimToken, projectId } = page;
      await spool.keep({ claim: { scope: scopeOf(page), claimToken, projectId, page }, results });
    },
  });
  const running: RunningAttempt = { ...attempt, buffer, signal };
  sender.pagesAtWork += 1;
  try {
    if (attempt.ratePerSecond > 0) return await sendSlice(sender, running);
    await sendUnlimited(sender, running);
    return undefined;
  } finally {
    sender.pagesAtWork -= 1;
    await buffer.drain();
    await sandbox.followUp();
  }
}

/** The pause after which a campaign that holds because of complaints is checked again. */
const COMPLAINT_PAUSE_MS = 30_000;

/** @throws ApplicationFailure while too many recipients report emails of the project as spam */
async function holdForComplaints({ em, deps }: PageSender, campaign: CampaignContent): Promise<void> {
  const { COMPLAINT_RATE_MAX: rateMax, COMPLAINT_RATE_MIN_EMAILS: emailsMin } = deps.config;
  if (rateMax === 0 || campaign.complaintsAccepted) return;
  const rate = await findExcessiveRate(em(), campaign.projectId, { rateMax, emailsMin });
  if (!rate) return;
  const until = new Date(Date.now() + COMPLAINT_PAUSE_MS);
  if (await holdCampaign(em(), campaign, complaintWait(campaign.id, rate, rateMax, until))) {
    deps.logger.warn({ campaignId: campaign.id, ...rate }, 'a campaign holds: too many recipients complain');
  }
  throw complaintHoldFailure(campaign.id, COMPLAINT_PAUSE_MS);
}

/**
 * Stores with the campaign that no SMTP server answers, so that its recipients show why they wait.
 * @throws the error
 */
async function noteUnavailable({ em, deps }: PageSender, campaignId: string, error: unknown): Promise<never> {
  if (error instanceof SmtpUnavailableError) {
    const relays = deps.smtp.relays().map(({ label }) => label);
    const { wait } = holdFor({ provider: ALL, relays, reason: NO_SERVER }, deps.config.DELIVERY_PAUSE_SECONDS * 1_000);
    await noteWait(em(), campaignId, { ...wait, isUnreachable: true });
  }
  throw orSmtpUnavailable(error, deps.config.DELIVERY_PAUSE_SECONDS);
}

/** Records what earlier attempts could not, and claims the page, also from an attempt that was thought dead. */
async function claimPage(
  { em, deps }: PageSender,
  page: CampaignPage,
  campaign: CampaignContent,
  ratePerSecond: number,
  composer: CampaignComposer,
): Promise<PageAttempt> {
  const { projectId, from, subject } = campaign;
  const claimed: ClaimedPage = { ...page, claimToken: randomUUID(), projectId, heading: { from, subject } };
  const record = (claim: ClaimedPage, results: DeliveryResult[]) =>
    recordCampaignResults(em(), claim, results, deps.config.DELIVERY_RETRY_SECONDS);
  await deps.spool.settle(scopeOf(page));
  await recordCarried((claimToken, results) => record({ ...claimed, claimToken }, results));
  await claimCampaignPage(em(), page, claimed.claimToken);
  return {
    page: claimed,
    projectId,
    ratePerSecond,
    composer,
    record: (results) => record(claimed, results),
    result: { sent: 0, deferred: 0, isStopped: false },
    unmade: { isLastAttempt: lastAttempt(), causes: [] },
    trace: traceSome(),
  };
}

/** Creates the activity that sends pages of campaigns. */
export function createPageSender(deps: PageSender['deps'] & { identities: SendingIdentities }) {
  const em = () => deps.orm.em.fork();
  const sender: PageSender = { deps, em, composerOf: createCampaignComposers(deps), pagesAtWork: 0 };

  /**
   * Sends to the due recipients of a page. It is safe to run twice, even beside an attempt that was thought dead: that
   * attempt loses the page and can record nothing more. A page of a throttled project takes many attempts, each of
   * which occupies its slot for a few seconds only.
   */
  return async function sendRecipientPage(page: CampaignPage): Promise<PageResult> {
    const context = Context.current();
    const campaign = await loadSendingCampaign(em(), page.campaignId);
    const policy = campaign && (await readSendPolicy(em(), campaign.projectId, deps.config.EMAIL_RATE_PER_SECOND));
    if (!policy) return STOPPED;
    if (policy.isDisabled) throw projectDisabledFailure(campaign.projectId, deps.config.DELIVERY_PAUSE_SECONDS);
    await holdForComplaints(sender, campaign);
    const composer = await composerOrEnd(sender, campaign);
    if (!composer) return STOPPED;

    const attempt = await claimPage(sender, page, campaign, policy.ratePerSecond, composer);
    const { result, unmade } = attempt;
    annotate({
      'everpost.campaign.id': page.campaignId,
      'everpost.page.first': page.firstSeq,
      'everpost.page.last': page.lastSeq,
    });
    // The heartbeat lasts until the results are recorded, which may have to wait for the database.
    const again = await withHeartbeat(
      deps,
      (signal, advance, wait) => sendAndRecord(sender, attempt, signal, { advance, wait }),
      {
        progress: () => ({ sent: result.sent }),
        stallMs: SEND_STALL_MS,
      },
    ).catch((error: unknown) => noteUnavailable(sender, campaign.id, error));
    annotate({ 'everpost.emails.sent': result.sent, 'everpost.emails.deferred': result.deferred });
    context.cancellationSignal.throwIfAborted();
    if (result.isStopped) return result;
    if (unmade.causes.length > 0) throw unmade.causes[0];
    if (again) throw again;
    return result;
  };
}
