import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import { nextRoundMs } from '../../shared/pure/emails/delivery-retry.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { deliveryIdOf } from '../../shared/pure/workflow-contracts.ts';
import type { Em } from '../../shared/database/em.ts';
import { recordTransactionalResults } from '../../shared/domain/emails/delivery-results.ts';
import type { EmailClaim } from '../../shared/domain/campaigns/result-sink.ts';
import { isPutOff } from '../../shared/sending/verdict/delivery-result.ts';
import { readSendPolicy, type SendPolicy } from '../../shared/domain/emails/send-budget.ts';
import {
  abandonEmails,
  claimEmails,
  findOpenEmails,
  readDeliveryProgress,
  releaseEmails,
  type StatusCounts,
} from '../../shared/domain/emails/transactional-delivery.ts';
import type { SendingIdentities } from '../../shared/domain/domains/sending-identities.ts';
import type { DeliveryScope } from './open-deliveries.ts';
import type { SmtpUrgency } from '../../shared/sending/transport/smtp-pool.ts';
import type { ActivityDeps } from '../deps.ts';
import { orSmtpUnavailable, projectDisabledFailure, projectGoneFailure } from '../failures.ts';
import { withHeartbeat, type Pulse } from '../../shared/durable/attempts/heartbeat.ts';
import { lastAttempt } from '../../shared/durable/attempts/failures.ts';
import { createClaimedEmailSender, type ClaimedEmailSender } from './claimed-emails.ts';
import type { ProviderGuard } from '../../shared/sending/permit/provider-guard.ts';
import { createResultBuffer } from '../../shared/sending/results/result-buffer.ts';
import { carryResults, recordCarried } from './carried-results.ts';
import type { ResultSpool } from '../../shared/sending/results/result-spool.ts';
import type { Sandbox } from './sandbox.ts';
import { sendAndLetJoin } from './send-and-let-join.ts';
import { SEND_STALL_MS, type UnmadeMessages } from '../../shared/sending/loop.ts';
import { traceEmails } from './smtp-trace.ts';

export interface DeliverEmailsInput {
  projectId: string;
  emailIds: string[];
}

export interface DeliverEmailsResult {
  /** Emails that a server deferred. */
  deferredIds: string[];
  /** The time until the next attempt, in milliseconds. */
  retryInMs: number;
  /** The outcomes of the other emails. */
  ended: StatusCounts;
}

const RESULTS_MAX = 50;
const RESULTS_AGE_MS = 50;

type EmailDeps = ActivityDeps & {
  identities: SendingIdentities;
  guard: ProviderGuard;
  sandbox: Sandbox;
  spool: ResultSpool<EmailClaim>;
};

/** A delivery under way. */
interface Delivery extends DeliveryScope {
  id: string;
  /** Whether an attempt before this one failed or was lost. */
  isRepeated: boolean;
}

interface AttemptOptions extends Pulse {
  signal: AbortSignal;
  /** Emails per second; 0 is no limit. */
  ratePerSecond: number;
  onClaimed: () => void;
}

/** The id of the delivery whose workflow called the activity. */
function currentDeliveryId(): string {
  const { workflowExecution } = Context.current().info;
  if (!workflowExecution) throw new Error('a delivery is the work of a workflow');
  return deliveryIdOf(workflowExecution.workflowId);
}

/** The urgency of the emails, by the task queue of the call. */
function currentUrgency(): SmtpUrgency {
  return Context.current().info.taskQueue === TASK_QUEUES.automations ? 'automation' : 'transactional';
}

/**
 * The emails that the workflow names, and those that joined them in an attempt that ended before its result reached the
 * workflow.
 */
async function withJoined(em: Em, deliveryId: string, emailIds: string[]): Promise<string[]> {
  return [...new Set([...emailIds, ...(await findOpenEmails(em, deliveryId))])];
}

/** @throws ApplicationFailure when the project may not send */
async function policyOf({ orm, config }: ActivityDeps, projectId: string): Promise<SendPolicy> {
  const policy = await readSendPolicy(orm.em.fork(), projectId, config.EMAIL_RATE_PER_SECOND);
  if (!policy) throw projectGoneFailure(projectId);
  if (policy.isDisabled) throw projectDisabledFailure(projectId, config.DELIVERY_PAUSE_SECONDS);
  return policy;
}

/**
 * Records what earlier attempts could not, claims emails, sends them, records the results and releases the others.
 * @returns whether every email is decided
 * @throws ApplicationFailure that makes Temporal repeat the attempt: for messages that could not be composed or sent
 *   now, or for emails beyond the sending speed of the project
 */
async function claimAndSend(
  deps: EmailDeps,
  sender: ClaimedEmailSender,
  { id: deliveryId, projectId, urgency }: Delivery,
  emailIds: string[],
  { signal, advance, wait, ratePerSecond, onClaimed }: AttemptOptions,
): Promise<boolean> {
  const em = () => deps.orm.em.fork();
  await deps.spool.settle(deliveryId);
  const claimToken = randomUUID();
  const claimed = await claimEmails(em(), emailIds, { deliveryId, claimToken });
  onClaimed();
  const unmade: UnmadeMessages = { isLastAttempt: lastAttempt(), causes: [] };
  let recordedCount = 0;
  let keptCount = 0;
  let putOffCount = 0;
  const buffer = createResultBuffer({
    maxItems: RESULTS_MAX,
    waitingMax: 2 * RESULTS_MAX,
    maxAgeMs: RESULTS_AGE_MS,
    signal,
    onWait(error, ended) {
      wait(error);
      deps.spool.hold(deliveryId, ended);
    },
    async record(results) {
      await recordTransactionalResults(em(), projectId, claimToken, results, deps.config.DELIVERY_RETRY_SECONDS);
      recordedCount += results.length;
      putOffCount += results.filter(isPutOff).length;
      deps.sandbox.noteRecorded(results);
      advance();
    },
    async keep(results) {
      keptCount += results.length;
      carryResults(claimToken, results);
      await deps.spool.keep({ claim: { scope: deliveryId, projectId, claimToken }, results });
    },
  });
  let again: ApplicationFailure | undefined;
  try {
    const trace = await traceEmails(deps, claimed);
    const attempt = { projectId, urgency, claimed, unmade, trace, buffer, signal };
    if (ratePerSecond > 0) {
      const throttle = { em, projectId, ratePerSecond, isUrgent: urgency === 'transactional', signal };
      again = await sender.sendSlice(attempt, throttle);
    } else {
      await sender.sendAll(attempt);
    }
  } finally {
    await buffer.drain();
    const ids = claimed.map((email) => email.id);
    // A release would make the kept results worthless. The next attempt claims the emails as they are.
    if (keptCount === 0 && recordedCount < claimed.length) await releaseEmails(em(), ids, claimToken);
  }
  await deps.sandbox.followUp();
  if (unmade.causes.length > 0) throw unmade.causes[0];
  if (again) throw again;
  return recordedCount - putOffCount === claimed.length;
}

/**
 * Sends the emails of a delivery, and those that join it. Nothing joins a repeated attempt, because the faults and the
 * outage before it count when a delivery is given up.
 * @returns the ids of all of them
 */
async function sendEmailsOf(
  deps: EmailDeps,
  sender: ClaimedEmailSender,
  delivery: Delivery,
  emailIds: string[],
  ratePerSecond: number,
): Promise<string[]> {
  const work = async (signal: AbortSignal, advance: Pulse['advance'], wait: Pulse['wait']): Promise<string[]> => {
    const send = (ids: string[], onClaimed: () => void) =>
      claimAndSend(deps, sender, delivery, ids, { signal, advance, wait, ratePerSecond, onClaimed });
    if (ratePerSecond > 0 || delivery.isRepeated) {
      await send(emailIds, () => undefined);
      return emailIds;
    }
    return sendAndLetJoin(emailIds, {
      scope: delivery,
      openDeliveries: deps.openDeliveries,
      send,
      signal,
      async mayJoin() {
        const policy = await readSendPolicy(deps.orm.em.fork(), delivery.projectId, deps.config.EMAIL_RATE_PER_SECOND);
        return policy !== undefined && !policy.isDisabled && policy.ratePerSecond === 0;
      },
    });
  };
  // The heartbeat lasts until the results are recorded, which may have to wait for the database.
  return withHeartbeat(deps, work, { stallMs: SEND_STALL_MS }).catch((error: unknown) => {
    throw orSmtpUnavailable(error, deps.config.DELIVERY_PAUSE_SECONDS);
  });
}

/** Activities for transactional email. */
export function createEmailActivities(deps: EmailDeps) {
  const em = () => deps.orm.em.fork();
  const sender = createClaimedEmailSender(deps);

  return {
    /**
     * Sends the undecided emails, and others of the project that join them. It is safe to run twice: a decided email is
     * not claimed again, and one that a dead attempt left undecided is sent again with the same Message-ID.
     */
    async deliverEmails({ projectId, emailIds }: DeliverEmailsInput): Promise<DeliverEmailsResult> {
      const { ratePerSecond } = await policyOf(deps, projectId);
      const isRepeated = Context.current().info.attempt > 1;
      await recordCarried((token, results) =>
        recordTransactionalResults(em(), projectId, token, results, deps.config.DELIVERY_RETRY_SECONDS),
      );
      const delivery = { id: currentDeliveryId(), isRepeated, projectId, urgency: currentUrgency() };
      const own = isRepeated ? await withJoined(em(), delivery.id, emailIds) : emailIds;
      const all = await sendEmailsOf(deps, sender, delivery, own, ratePerSecond);
      const { pending, ended } = await readDeliveryProgress(em(), all, delivery.id);
      return {
        ended,
        deferredIds: pending.map((email) => email.id),
        retryInMs: nextRoundMs(pending.map((email) => email.waitMs)),
      };
    },

    /**
     * Gives up emails that cannot be delivered, with the reason.
     * @returns the outcomes of all emails of the delivery
     */
    async abandonEmails({ emailIds, reason }: { emailIds: string[]; reason: string }): Promise<StatusCounts> {
      const deliveryId = currentDeliveryId();
      const all = await withJoined(em(), deliveryId, emailIds);
      await abandonEmails(em(), all, deliveryId, reason);
      return (await readDeliveryProgress(em(), all, deliveryId)).ended;
    },
  };
}
