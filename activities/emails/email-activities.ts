import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import { nextRoundMs } from '../../shared/pure/emails/delivery-retry.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { deliveryIdOf } from '../../shared/pure/workflow-contracts.ts';
import { recordTransactionalResults } from '../../shared/domain/emails/delivery-results.ts';
import { readSendPolicy, type SendPolicy } from '../../shared/domain/emails/send-budget.ts';
import {
  abandonMails,
  claimMails,
  findPendingMails,
  loadAttachments,
  loadMails,
  releaseMails,
  type ClaimedMail,
} from '../../shared/domain/emails/transactional-delivery.ts';
import type { SendingIdentities } from '../../shared/domain/domains/sending-identities.ts';
import { createOctetBudget, type Release } from '../../shared/platform/octet-budget.ts';
import type { SmtpUrgency } from '../../shared/platform/smtp/smtp-pool.ts';
import type { ActivityDeps } from '../deps.ts';
import { memoryBusyFailure, projectDisabledFailure, projectGoneFailure } from '../failures.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { batchesOf, HEAVY_AT_ONCE, type DeliveryBatch } from './delivery-batches.ts';
import type { ProviderGuard } from './provider-guard.ts';
import { createResultBuffer, type ResultBuffer } from './result-buffer.ts';
import type { Sandbox } from './sandbox.ts';
import { createUnmade, SEND_STALL_MS, sendMails, type UnmadeMessages } from './send-loop.ts';
import { comeBackFor, sliceSize, takeReservation, type Pace, type Throttle } from './send-throttle.ts';
import { createStoredMailComposer } from './stored-mail-composer.ts';

export interface DeliverEmailsInput {
  projectId: string;
  emailIds: string[];
}

export interface DeliverEmailsResult {
  /** Mails that a server asked to send later. */
  deferredIds: string[];
  /** When to try them again. */
  retryInMs: number;
}

const RESULTS_MAX = 50;
const RESULTS_AGE_MS = 50;
/** Of a worker process, for messages that are large: their files, and each message on its way. */
const LARGE_MESSAGES_BYTES = 134_217_728;
/** A message is composed in one piece and written to the wire in another. */
const FORMS = 2;
const MEMORY_WAIT_MS = 1_000;

/** One attempt at a delivery. */
interface DeliveryAttempt {
  projectId: string;
  urgency: SmtpUrgency;
  claimed: ClaimedMail[];
  buffer: ResultBuffer;
  unmade: UnmadeMessages;
  signal: AbortSignal;
}

/** The delivery whose workflow has called the activity. */
function currentDeliveryId(): string {
  const { workflowExecution } = Context.current().info;
  if (!workflowExecution) throw new Error('a delivery is the work of a workflow');
  return deliveryIdOf(workflowExecution.workflowId);
}

/** What the activity was called for, by the queue that it came from. */
function currentUrgency(): SmtpUrgency {
  return Context.current().info.taskQueue === TASK_QUEUES.automations ? 'automation' : 'transactional';
}

/** Activities for transactional mail. */
export function createEmailActivities(
  deps: ActivityDeps & { identities: SendingIdentities; guard: ProviderGuard; sandbox: Sandbox },
) {
  const em = () => deps.orm.em.fork();
  const prepare = createStoredMailComposer(deps);
  const largeMessages = createOctetBudget(LARGE_MESSAGES_BYTES);

  /** Memory for as many messages at once as there is room for. @throws ApplicationFailure when there is none for one */
  async function takeMemory({
    sharedBytes,
    messageBytes,
  }: DeliveryBatch): Promise<{ atOnce: number; release: Release }> {
    const need = (atOnce: number): number => sharedBytes + atOnce * FORMS * messageBytes;
    for (const [atOnce, waitMs] of [
      [HEAVY_AT_ONCE, 0],
      [1, MEMORY_WAIT_MS],
    ] as const) {
      const release = await largeMessages.take(need(atOnce), waitMs);
      if (release) return { atOnce, release };
    }
    throw memoryBusyFailure();
  }

  async function sendBatch(
    { projectId, urgency, buffer, unmade, signal }: DeliveryAttempt,
    { ids, attachmentSetId }: DeliveryBatch,
    concurrency: number,
    pace: Pace | undefined,
  ): Promise<void> {
    const files = attachmentSetId === null ? [] : await loadAttachments(em(), attachmentSetId);
    const mails = await loadMails(em(), ids);
    await sendMails(await Promise.all(mails.map((mail) => prepare(projectId, mail, files))), {
      pool: deps.smtp,
      guard: deps.guard,
      metrics: deps.metrics,
      sandbox: deps.sandbox,
      urgency,
      projectId,
      buffer,
      unmade,
      concurrency,
      config: deps.config,
      mailCount: mails.length,
      signal,
      shouldStop: () => false,
      pace,
    });
  }

  async function sendAll(attempt: DeliveryAttempt, mails: ClaimedMail[], pace?: Pace): Promise<void> {
    for (const { kind, batch } of batchesOf(mails)) {
      if (kind === 'light') {
        await sendBatch(attempt, batch, deps.smtp.capacity, pace);
        continue;
      }
      const { atOnce, release } = await takeMemory(batch);
      try {
        await sendBatch(attempt, batch, atOnce, pace);
      } finally {
        release();
      }
    }
  }

  /** Sends what goes in a few seconds. @returns the failure that has the attempt repeated for the rest */
  async function sendSlice(attempt: DeliveryAttempt, throttle: Throttle): Promise<ApplicationFailure | undefined> {
    const { claimed } = attempt;
    if (claimed.length === 0) return undefined;
    const size = Math.min(claimed.length, sliceSize(throttle.ratePerSecond));
    await sendAll(attempt, claimed.slice(0, size), await takeReservation(throttle, size));
    return size < claimed.length ? comeBackFor(throttle, claimed.length - size) : undefined;
  }

  /** @throws ApplicationFailure when the project may not send */
  async function policyOf(projectId: string): Promise<SendPolicy> {
    const policy = await readSendPolicy(em(), projectId, deps.config.EMAIL_RATE_PER_SECOND);
    if (!policy) throw projectGoneFailure(projectId);
    if (policy.isDisabled) throw projectDisabledFailure(projectId, deps.config.DELIVERY_PAUSE_SECONDS);
    return policy;
  }

  return {
    /**
     * Sends the mails that are still to be sent. Safe to run twice: a mail that is decided is not claimed again, and
     * one that a dead attempt left undecided goes out under its old Message-ID.
     */
    async deliverEmails({ projectId, emailIds }: DeliverEmailsInput): Promise<DeliverEmailsResult> {
      const { ratePerSecond } = await policyOf(projectId);
      const deliveryId = currentDeliveryId();
      const urgency = currentUrgency();
      const claimToken = randomUUID();
      const claimed = await claimMails(em(), emailIds, { deliveryId, claimToken });
      const unmade = createUnmade();
      let recordedCount = 0;
      const work = async (signal: AbortSignal, advance: () => void): Promise<ApplicationFailure | undefined> => {
        const buffer = createResultBuffer({
          maxItems: RESULTS_MAX,
          maxAgeMs: RESULTS_AGE_MS,
          signal,
          async record(results) {
            await recordTransactionalResults(em(), projectId, claimToken, results, deps.config.DELIVERY_RETRY_SECONDS);
            recordedCount += results.length;
            await deps.sandbox.followUp(results);
            advance();
          },
        });
        const attempt: DeliveryAttempt = { projectId, urgency, claimed, buffer, unmade, signal };
        try {
          if (ratePerSecond > 0) {
            const isUrgent = urgency === 'transactional';
            return await sendSlice(attempt, { em, projectId, ratePerSecond, isUrgent, signal });
          }
          await sendAll(attempt, claimed);
          return undefined;
        } finally {
          await buffer.drain();
          const ids = claimed.map((mail) => mail.id);
          if (recordedCount < claimed.length) await releaseMails(em(), ids, claimToken);
        }
      };
      // The heartbeat lasts until the results are recorded, which may have to wait for the database.
      const again = await withHeartbeat(deps, work, { stallMs: SEND_STALL_MS });
      if (unmade.causes.length > 0) throw unmade.causes[0];
      if (again) throw again;
      const pending = await findPendingMails(em(), emailIds, deliveryId);
      return {
        deferredIds: pending.map((mail) => mail.id),
        retryInMs: nextRoundMs(pending.map((mail) => mail.waitMs)),
      };
    },

    /** Gives up mails that cannot be delivered, with the reason. */
    async abandonEmails({ emailIds, reason }: { emailIds: string[]; reason: string }): Promise<void> {
      await abandonMails(em(), emailIds, currentDeliveryId(), reason);
    },
  };
}
