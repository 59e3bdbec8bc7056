import { Context } from '@temporalio/activity';
import { nextRoundMs } from '../../shared/pure/emails/delivery-retry.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { deliveryIdOf } from '../../shared/pure/workflow-contracts.ts';
import type { Em } from '../../shared/database/sql.ts';
import type { DeliveryScope } from './open-deliveries.ts';
import type { createDeliverySources } from '../../shared/domain/emails/delivery-source.ts';
import {
  abandonEmails,
  findOpenEmails,
  readDeliveryProgress,
  type StatusCounts,
} from '../../shared/domain/emails/transactional-delivery.ts';
import type { Attempt } from '../../shared/sending/sender.ts';
import type { SmtpUrgency } from '../../shared/sending/transport/smtp-pool.ts';
import { projectGoneFailure } from '../failures.ts';
import { policyOf, withSending, type SendingDeps } from './send-attempt.ts';
import { sendAndLetJoin } from './send-and-let-join.ts';

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

/** A delivery under way. */
interface Delivery extends DeliveryScope {
  id: string;
  /** Whether an attempt before this one failed or was lost. */
  isRepeated: boolean;
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

/** Activities for transactional email. */
export function createEmailActivities(deps: SendingDeps & { sourceOf: ReturnType<typeof createDeliverySources> }) {
  const em = () => deps.orm.em.fork();

  /** Claims and sends emails of a delivery. @returns whether every email is decided */
  async function send(delivery: Delivery, emailIds: string[], attempt: Attempt): Promise<boolean> {
    const source = deps.sourceOf({ ...delivery, deliveryId: delivery.id, emailIds });
    const { again, count, putOff } = await deps.send(source, attempt);
    if (again !== undefined) throw again;
    return count - putOff === source.claimedCount();
  }

  /**
   * Sends the emails of a delivery, and those that join it. Nothing joins a repeated attempt, because the faults and the
   * outage before it count when a delivery is given up.
   * @returns the ids of all its emails
   */
  async function sendAll(delivery: Delivery, emailIds: string[], attempt: Attempt): Promise<string[]> {
    if (attempt.speed || delivery.isRepeated) {
      await send(delivery, emailIds, attempt);
      return emailIds;
    }
    return sendAndLetJoin(emailIds, {
      scope: delivery,
      openDeliveries: deps.openDeliveries,
      send: (ids, onClaimed) => send(delivery, ids, { ...attempt, onClaimed }),
      signal: attempt.signal,
      async mayJoin() {
        const policy = await deps.permit.policyOf(delivery.projectId);
        return policy !== undefined && !policy.hold && policy.ratePerSecond === 0;
      },
    });
  }

  return {
    /**
     * Sends the undecided emails, and others of the project that join them. It is safe to run twice: a decided email is
     * not claimed again, and one that a dead attempt left undecided is sent again with the same Message-ID.
     */
    async deliverEmails({ projectId, emailIds }: DeliverEmailsInput): Promise<DeliverEmailsResult> {
      const policy = await policyOf(deps, projectId);
      if (!policy) throw projectGoneFailure(projectId);
      const urgency = currentUrgency();
      const delivery = { id: currentDeliveryId(), isRepeated: Context.current().info.attempt > 1, projectId, urgency };
      const own = delivery.isRepeated ? await withJoined(em(), delivery.id, emailIds) : emailIds;
      const isUrgent = urgency === 'transactional';
      const stream = { projectId, ratePerSecond: policy.ratePerSecond, isUrgent, stream: 'transactional' } as const;
      const all = await withSending(deps, stream, (attempt) => sendAll(delivery, own, attempt));
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
