import type { ApplicationFailure } from '@temporalio/common';
import { loadAttachments, loadEmails, type ClaimedEmail } from '../../shared/domain/emails/transactional-delivery.ts';
import { createOctetBudget, type OctetBudget, type Release } from '../../shared/platform/octet-budget.ts';
import type { SmtpUrgency } from '../../shared/sending/transport/smtp-pool.ts';
import type { ActivityDeps } from '../deps.ts';
import { memoryBusyFailure } from '../failures.ts';
import { batchesOf, HEAVY_AT_ONCE, type DeliveryBatch } from './delivery-batches.ts';
import type { ProviderGuard } from '../../shared/sending/permit/provider-guard.ts';
import type { ResultBuffer } from '../../shared/sending/results/result-buffer.ts';
import type { Sandbox } from './sandbox.ts';
import { sendEmails, type UnmadeMessages } from '../../shared/sending/loop.ts';
import { reserveNextAttempt, sliceSize, takeReservation, type Pace, type Throttle } from './send-throttle.ts';
import type { SmtpTrace } from './smtp-trace.ts';
import { createStoredEmailComposer } from './stored-email-composer.ts';

/** The memory of a worker process for large messages: their attachments, and each message in flight. */
const LARGE_MESSAGES_BYTES = 134_217_728;
/** Copies of a message in memory: the composed one and the one written to the socket. */
const COPIES_PER_MESSAGE = 2;
const MEMORY_WAIT_MS = 1_000;

/** One attempt at a delivery, with the emails that it has claimed. */
export interface DeliveryAttempt {
  projectId: string;
  urgency: SmtpUrgency;
  claimed: ClaimedEmail[];
  buffer: ResultBuffer;
  unmade: UnmadeMessages;
  trace: SmtpTrace;
  signal: AbortSignal;
}

export interface ClaimedEmailSender {
  /**
   * Sends all emails of an attempt.
   * @throws ApplicationFailure when there is no memory for them now
   */
  sendAll: (attempt: DeliveryAttempt) => Promise<void>;
  /**
   * Sends the emails of a few seconds at the speed of the project.
   * @returns the failure that makes Temporal repeat the attempt for the rest
   */
  sendSlice: (attempt: DeliveryAttempt, throttle: Throttle) => Promise<ApplicationFailure | undefined>;
}

type SenderDeps = ActivityDeps &
  Parameters<typeof createStoredEmailComposer>[0] & { guard: ProviderGuard; sandbox: Sandbox };

/**
 * Reserves memory for several messages at once, or else for one.
 * @throws ApplicationFailure when there is not enough for one
 */
async function takeMemory(
  budget: OctetBudget,
  { sharedBytes, messageBytes }: DeliveryBatch,
): Promise<{ atOnce: number; release: Release }> {
  const need = (atOnce: number): number => sharedBytes + atOnce * COPIES_PER_MESSAGE * messageBytes;
  for (const [atOnce, waitMs] of [
    [HEAVY_AT_ONCE, 0],
    [1, MEMORY_WAIT_MS],
  ] as const) {
    const release = await budget.take(need(atOnce), waitMs);
    if (release) return { atOnce, release };
  }
  throw memoryBusyFailure();
}

/** Creates the sender of claimed emails. Large emails share a part of the memory of the worker. */
export function createClaimedEmailSender(deps: SenderDeps): ClaimedEmailSender {
  const em = () => deps.orm.em.fork();
  const prepare = createStoredEmailComposer(deps);
  const largeMessages = createOctetBudget(LARGE_MESSAGES_BYTES);

  async function sendBatch(
    { projectId, urgency, buffer, unmade, trace, signal }: DeliveryAttempt,
    { ids, attachmentSetId }: DeliveryBatch,
    concurrency: number,
    pace: Pace | undefined,
  ): Promise<void> {
    const files = attachmentSetId === null ? [] : await loadAttachments(em(), attachmentSetId);
    const emails = await loadEmails(em(), ids);
    await sendEmails(await Promise.all(emails.map((email) => prepare(projectId, email, files))), {
      pool: deps.smtp,
      guard: deps.guard,
      metrics: deps.metrics,
      sandbox: deps.sandbox,
      urgency,
      projectId,
      buffer,
      unmade,
      concurrency,
      retrySeconds: deps.config.DELIVERY_RETRY_SECONDS,
      mailCount: emails.length,
      signal,
      shouldStop: () => false,
      pace,
      trace,
    });
  }

  async function send(attempt: DeliveryAttempt, emails: ClaimedEmail[], pace?: Pace): Promise<void> {
    for (const { kind, batch } of batchesOf(emails)) {
      if (kind === 'light') {
        await sendBatch(attempt, batch, deps.smtp.capacity, pace);
        continue;
      }
      const { atOnce, release } = await takeMemory(largeMessages, batch);
      try {
        await sendBatch(attempt, batch, atOnce, pace);
      } finally {
        release();
      }
    }
  }

  return {
    sendAll: (attempt) => send(attempt, attempt.claimed),
    async sendSlice(attempt, throttle) {
      const { claimed } = attempt;
      if (claimed.length === 0) return undefined;
      const size = Math.min(claimed.length, sliceSize(throttle.ratePerSecond));
      await send(attempt, claimed.slice(0, size), await takeReservation(throttle, size));
      return size < claimed.length ? reserveNextAttempt(throttle, claimed.length - size) : undefined;
    },
  };
}
