import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Orm } from '../domain/schema/orm.ts';
import type { OpenDeliveries } from './open-deliveries.ts';
import type { Logger } from '../platform/logger.ts';
import { createReminder } from '../platform/reminder.ts';
import type { SmtpUrgency } from '../sending/transport/smtp-pool.ts';
import { redactText } from '../pure/redact.ts';
import type { OutboxKind } from '../durable/outbox/outbox.ts';
import {
  deleteOutboxBatches,
  postponeOutboxBatch,
  shrinkOutboxBatch,
  type OutboxBatch,
} from '../durable/outbox/outbox-claims.ts';
import { findTraceContexts, type TraceContexts } from '../durable/outbox/trace-contexts.ts';
import { PartlyRefusedError } from './each-subject.ts';
import { handOverOf } from './hand-over.ts';
import type { HandedOver } from './poller.ts';
import { createStarters } from './starters.ts';

export interface DispatcherDeps {
  orm: Orm;
  client: Client;
  logger: Logger;
  /** The interval at which to look for rows that no call of `wake` has announced. */
  pollMs: number;
  /** Whether this is an API process, which leaves most rows to workers. */
  isApiProcess?: boolean;
  /**
   * Whether the workers of this process share the connection of the client. If so, Temporal can return the first task
   * of a workflow in its reply to the start, and a worker of this process runs it at once.
   */
  canStartEagerly?: boolean;
  /** Whether the traces of requests continue in the workflows. */
  isTraced?: boolean;
  /** The open deliveries of the workers of this process. Emails may join one instead of starting another. */
  openDeliveries?: OpenDeliveries;
}

const START_DEADLINE_MS = 10_000;

/**
 * Logs batches that Temporal did not take. During an outage every attempt fails, so a reason is a warning once a
 * minute, and a debug line otherwise.
 */
function createRefusalReport(logger: Logger) {
  const isDue = createReminder();
  return ({ kind, batchId, attempts }: OutboxBatch, reason: string): void => {
    logger[isDue(`${kind} ${reason}`) ? 'warn' : 'debug'](
      { kind, batchId, attempts, reason },
      'Temporal did not take a start; the start is kept and tried again',
    );
  };
}

/** The traces of batches of one kind. If they cannot be read, the batches are handed over without them. */
async function findTraces({ orm, logger, isTraced }: DispatcherDeps, batches: OutboxBatch[]): Promise<TraceContexts> {
  const [first] = batches;
  if (!isTraced || !first) return new Map();
  const subjectIds = batches.flatMap((batch) => batch.subjectIds);
  return findTraceContexts(orm.em.fork(), first.kind, subjectIds).catch((error: unknown) => {
    logger.warn({ err: error }, 'traces could not be read; the batches are started without them');
    return new Map();
  });
}

/** What became of a batch. A refused batch is put back. */
type Outcome = 'started' | 'joined' | 'refused';

const URGENCY_OF: Partial<Record<OutboxKind, SmtpUrgency>> = { email: 'transactional', automationEmail: 'automation' };

/**
 * Offers a batch to an open delivery, and returns whether that has claimed the emails. Traced emails get a delivery of
 * their own, so that their trace shows it.
 */
async function joinsDelivery(
  { openDeliveries }: DispatcherDeps,
  { kind, projectId, subjectIds, isNew }: OutboxBatch,
  contexts: TraceContexts,
): Promise<boolean> {
  const urgency = URGENCY_OF[kind];
  if (!openDeliveries || !urgency || !isNew || subjectIds.some((id) => contexts.has(id))) return false;
  return openDeliveries.offer({ projectId, urgency }, subjectIds);
}

/** The cost of an email that joins a delivery, as a share of the cost of an email of a new delivery. */
const COST_OF_JOINED = 0.1;

/**
 * Creates the function that hands claimed batches of one kind to an open delivery, or to Temporal. It deletes the
 * batches that were taken, and puts the others back.
 */
export function createBatchDispatch(deps: DispatcherDeps): (batches: OutboxBatch[]) => Promise<HandedOver> {
  const em = () => deps.orm.em.fork();
  const starters = createStarters({ em, client: deps.client, canStartEagerly: deps.canStartEagerly ?? false });
  const reportRefusal = createRefusalReport(deps.logger);

  async function start(batch: OutboxBatch, contexts: TraceContexts): Promise<Outcome> {
    if (await joinsDelivery(deps, batch, contexts)) return 'joined';
    const handOver = handOverOf(batch, contexts);
    try {
      await deps.client.withDeadline(Date.now() + START_DEADLINE_MS, () => starters[batch.kind](batch, handOver));
      return 'started';
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return 'started';
      const reason = redactText(error instanceof Error ? error.message : String(error));
      reportRefusal(batch, reason);
      if (error instanceof PartlyRefusedError) await shrinkOutboxBatch(em(), batch, error.refusedIds);
      await postponeOutboxBatch(em(), batch, reason);
      return 'refused';
    }
  }

  return async (batches) => {
    const contexts = await findTraces(deps, batches);
    const outcomes = await Promise.all(batches.map((batch) => start(batch, contexts)));
    const done = batches.filter((_, index) => outcomes[index] !== 'refused').map((batch) => batch.batchId);
    if (done.length > 0) await deleteOutboxBatches(em(), done);
    let costInRows = 0;
    for (const [index, { subjectIds }] of batches.entries()) {
      costInRows += subjectIds.length * (outcomes[index] === 'joined' ? COST_OF_JOINED : 1);
    }
    return { isTaken: done.length > 0, costInRows };
  };
}
