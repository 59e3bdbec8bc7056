import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import { nextRoundMs } from '../../shared/pure/emails/delivery-retry.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { deliveryIdOf } from '../../shared/pure/workflow-contracts.ts';
import { recordTransactionalResults } from '../../shared/domain/emails/delivery-results.ts';
import { readSendPolicy, type SendPolicy } from '../../shared/domain/emails/send-budget.ts';
import {
  abandonEmails,
  claimEmails,
  readDeliveryProgress,
  releaseEmails,
  type StatusCounts,
} from '../../shared/domain/emails/transactional-delivery.ts';
import type { SendingIdentities } from '../../shared/domain/domains/sending-identities.ts';
import type { SmtpUrgency } from '../../shared/platform/smtp/smtp-pool.ts';
import type { ActivityDeps } from '../deps.ts';
import { projectDisabledFailure, projectGoneFailure } from '../failures.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { createClaimedEmailSender, type ClaimedEmailSender, type DeliveryAttempt } from './claimed-emails.ts';
import type { ProviderGuard } from './provider-guard.ts';
import { createResultBuffer } from './result-buffer.ts';
import type { Sandbox } from './sandbox.ts';
import { createUnmade, SEND_STALL_MS } from './send-loop.ts';
import { traceEmails } from './smtp-trace.ts';

export interface DeliverEmailsInput {
  projectId: string;
  emailIds: string[];
}

export interface DeliverEmailsResult {
  /** Emails that a server asked to send later. */
  deferredIds: string[];
  /** When to try them again. */
  retryInMs: number;
  /** What became of the others. Activities of earlier builds do not tell. */
  ended?: StatusCounts;
}

const RESULTS_MAX = 50;
const RESULTS_AGE_MS = 50;

type EmailDeps = ActivityDeps & { identities: SendingIdentities; guard: ProviderGuard; sandbox: Sandbox };

/** An attempt before its results can be recorded. */
type NewAttempt = Omit<DeliveryAttempt, 'buffer' | 'signal'> & { claimToken: string };

/** The delivery whose workflow has called the activity. */
function currentDeliveryId(): string {
  const { workflowExecution } = Context.current().info;
  if (!workflowExecution) throw new Error('a delivery is the work of a workflow');
  return deliveryIdOf(workflowExecution.workflowId);
}

/** The kind of email, by the queue that the call came from. */
function currentUrgency(): SmtpUrgency {
  return Context.current().info.taskQueue === TASK_QUEUES.automations ? 'automation' : 'transactional';
}

/** @throws ApplicationFailure when the project may not send */
async function policyOf({ orm, config }: ActivityDeps, projectId: string): Promise<SendPolicy> {
  const policy = await readSendPolicy(orm.em.fork(), projectId, config.EMAIL_RATE_PER_SECOND);
  if (!policy) throw projectGoneFailure(projectId);
  if (policy.isDisabled) throw projectDisabledFailure(projectId, config.DELIVERY_PAUSE_SECONDS);
  return policy;
}

/**
 * Sends the emails that an attempt has claimed, records the results and gives back the rest.
 * @returns the failure that has the attempt repeated for emails that the project's rate leaves for later
 */
async function sendAndRecord(
  deps: EmailDeps,
  sender: ClaimedEmailSender,
  attempt: NewAttempt,
  ratePerSecond: number,
): Promise<ApplicationFailure | undefined> {
  const em = () => deps.orm.em.fork();
  const { projectId, claimToken, claimed, urgency } = attempt;
  let recordedCount = 0;
  const work = async (signal: AbortSignal, advance: () => void): Promise<ApplicationFailure | undefined> => {
    const buffer = createResultBuffer({
      maxItems: RESULTS_MAX,
      waitingMax: 2 * RESULTS_MAX,
      maxAgeMs: RESULTS_AGE_MS,
      signal,
      async record(results) {
        await recordTransactionalResults(em(), projectId, claimToken, results, deps.config.DELIVERY_RETRY_SECONDS);
        recordedCount += results.length;
        await deps.sandbox.followUp(results);
        advance();
      },
    });
    try {
      if (ratePerSecond > 0) {
        const throttle = { em, projectId, ratePerSecond, isUrgent: urgency === 'transactional', signal };
        return await sender.sendSlice({ ...attempt, buffer, signal }, throttle);
      }
      await sender.sendAll({ ...attempt, buffer, signal });
      return undefined;
    } finally {
      await buffer.drain();
      const ids = claimed.map((email) => email.id);
      if (recordedCount < claimed.length) await releaseEmails(em(), ids, claimToken);
    }
  };
  // The heartbeat lasts until the results are recorded, which may have to wait for the database.
  return withHeartbeat(deps, work, { stallMs: SEND_STALL_MS });
}

/** Activities for transactional email. */
export function createEmailActivities(deps: EmailDeps) {
  const em = () => deps.orm.em.fork();
  const sender = createClaimedEmailSender(deps);

  return {
    /**
     * Sends the emails that are still to be sent. Safe to run twice: an email that is decided is not claimed again, and
     * one that a dead attempt left undecided goes out under its old Message-ID.
     */
    async deliverEmails({ projectId, emailIds }: DeliverEmailsInput): Promise<DeliverEmailsResult> {
      // Where emails are delivered, there may be more.
      deps.wakeDispatcher();
      const { ratePerSecond } = await policyOf(deps, projectId);
      const deliveryId = currentDeliveryId();
      const urgency = currentUrgency();
      const claimToken = randomUUID();
      const claimed = await claimEmails(em(), emailIds, { deliveryId, claimToken });
      const unmade = createUnmade();
      const trace = await traceEmails(deps, claimed);
      const attempt = { projectId, urgency, claimToken, claimed, unmade, trace };
      const again = await sendAndRecord(deps, sender, attempt, ratePerSecond);
      if (unmade.causes.length > 0) throw unmade.causes[0];
      if (again) throw again;
      const { pending, ended } = await readDeliveryProgress(em(), emailIds, deliveryId);
      return {
        ended,
        deferredIds: pending.map((email) => email.id),
        retryInMs: nextRoundMs(pending.map((email) => email.waitMs)),
      };
    },

    /** Gives up emails that cannot be delivered, with the reason. @returns what became of them all */
    async abandonEmails({ emailIds, reason }: { emailIds: string[]; reason: string }): Promise<StatusCounts> {
      await abandonEmails(em(), emailIds, currentDeliveryId(), reason);
      return (await readDeliveryProgress(em(), emailIds, currentDeliveryId())).ended;
    },
  };
}
