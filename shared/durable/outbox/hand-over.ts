import { SpanKind } from '@opentelemetry/api';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Em } from '../../database/sql.ts';
import type { Logger } from '../../platform/logger.ts';
import { createReminder } from '../../platform/reminder.ts';
import { Share } from '../../platform/share.ts';
import { searchAttributes } from '../../platform/search-attributes.ts';
import { markFailed, traceParentOf, startSpan, within } from '../../platform/tracing/spans.ts';
import { redactText } from '../../pure/redact.ts';
import { deleteOutboxBatches, keepRefusedRows, type OutboxBatch } from './outbox-claims.ts';
import { findTraceContexts, type TraceContext, type TraceContexts } from './trace-contexts.ts';
import type { OutboxWork, WorkflowCall } from './work.ts';

export interface HandOverDeps {
  em: () => Em;
  client: Client;
  logger: Logger;
  /**
   * Whether the workers of this process share the connection of the client. If so, Temporal can return the first task
   * of a workflow in its reply to the start, and a worker of this process runs it at once, if it has a free slot.
   */
  canStartEagerly?: boolean;
  /** Whether the traces of requests continue in the workflows. */
  isTraced?: boolean;
  /** Offers a new batch to work under way in this process, which costs Temporal nothing. @returns whether it is taken */
  join?: (batch: OutboxBatch) => Promise<boolean>;
}

/** What became of the batches of a claim. */
export interface HandedOver {
  /** Whether at least one batch was taken. */
  isTaken: boolean;
  /** The cost for Temporal, in rows of new workflows. A row that joins work under way costs less. */
  costInRows: number;
}

/** For all calls of a batch, so that a batch ends even if Temporal answers none of them. */
const CALL_DEADLINE_MS = 10_000;
/**
 * The most calls of patient kinds at a time. Temporal answers a start before it does the work of it, so it accepts starts
 * faster than it runs them, and what it has accepted delays all projects. With two calls at a time, four backlogs of
 * 100,000 rows on a busy server delay an email by 2 seconds; with four by up to 24, and without a limit by minutes.
 */
const PATIENT_CALLS = 2;
/** The cost of a row that joins work under way, as a share of the cost of a row of a new workflow. */
const COST_OF_JOINED = 0.1;

/**
 * Makes a call, which may be a repetition. A closed workflow of the same id has already done or refused the work; a
 * running one is doing it.
 */
export async function callWorkflow(
  client: Client,
  { workflowId, start, signal }: WorkflowCall,
  { projectId, isRestart }: Pick<OutboxBatch, 'projectId' | 'isRestart'>,
  canStartEagerly: boolean,
): Promise<void> {
  if (!start) {
    const handle = client.workflow.getHandle(workflowId);
    const called = signal ? handle.signal(signal.name, ...signal.args) : handle.cancel();
    await called.catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
    return;
  }
  const { type, taskQueue, input, summary, attributes, priority, isRepeatable } = start;
  const options = {
    workflowId,
    taskQueue,
    args: [input],
    staticSummary: summary,
    workflowIdReusePolicy: isRepeatable || isRestart ? ('ALLOW_DUPLICATE' as const) : ('REJECT_DUPLICATE' as const),
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    typedSearchAttributes: searchAttributes({ projectId, ...attributes }),
    priority: { priorityKey: priority, fairnessKey: projectId },
  };
  const called = signal
    ? client.workflow.signalWithStart(type, { ...options, signal: signal.name, signalArgs: signal.args })
    : client.workflow.start(type, { ...options, ...(canStartEagerly && { requestEagerStart: true }) });
  await called.catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  });
}

/**
 * Runs `work`, which hands subjects of a batch over, as a part of their traces. Each trace gets a span from the commit
 * to the hand-over. The workflow continues the first trace, and the spans of the others are linked to it.
 */
export async function inTraces<T>(
  batch: OutboxBatch,
  subjectIds: readonly string[],
  contexts: TraceContexts,
  work: () => Promise<T>,
): Promise<T> {
  const traces = new Map<string, TraceContext>();
  for (const context of subjectIds.flatMap((id) => contexts.get(id) ?? [])) {
    if (!traces.has(context.parent.traceId)) traces.set(context.parent.traceId, context);
  }
  const [first, ...others] = traces.values();
  if (!first) return work();
  const attributes = {
    'everpost.outbox.batch_id': batch.batchId,
    'everpost.outbox.rows': batch.subjectIds.length,
    'everpost.outbox.attempts': batch.attempts,
    'everpost.project_id': batch.projectId,
  };
  const start = ({ parent, at }: TraceContext, links: TraceContext['parent'][]) =>
    startSpan(`outbox ${batch.kind}`, { kind: SpanKind.PRODUCER, parent, startTime: at, links, attributes });
  const leading = start(
    first,
    others.map(({ parent }) => parent),
  );
  const spans = [leading, ...others.map((context) => start(context, [traceParentOf(leading)]))];
  try {
    return await within(leading, work);
  } catch (error) {
    for (const span of spans) markFailed(span, error);
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

/**
 * Creates the function that hands claimed batches of one kind to work under way, or to Temporal. It deletes the rows
 * that were taken, and puts the others back.
 */
export function createHandOver(deps: HandOverDeps): (work: OutboxWork, batches: OutboxBatch[]) => Promise<HandedOver> {
  const { em, client, logger } = deps;
  const isDue = createReminder();
  const patientCalls = new Share({ total: PATIENT_CALLS });

  /** The traces of batches. If they cannot be read, the batches are handed over without them. */
  async function tracesOf(work: OutboxWork, batches: OutboxBatch[]): Promise<TraceContexts> {
    if (!deps.isTraced) return new Map();
    const subjectIds = batches.flatMap((batch) => batch.subjectIds);
    return findTraceContexts(em(), subjectIds, work.tracesOf?.(subjectIds)).catch((error: unknown) => {
      logger.warn({ err: error }, 'traces could not be read; the batches are started without them');
      return new Map();
    });
  }

  /**
   * Keeps what Temporal did not take. During an outage every attempt fails, so a reason is a warning once a minute, and
   * a debug line otherwise.
   */
  async function keep(batch: OutboxBatch, refusedIds: readonly string[], error: unknown): Promise<void> {
    const reason = redactText(error instanceof Error ? error.message : String(error));
    logger[isDue(`${batch.kind} ${reason}`) ? 'warn' : 'debug'](
      { kind: batch.kind, batchId: batch.batchId, attempts: batch.attempts, reason },
      'Temporal did not take a start; the start is kept and tried again',
    );
    await keepRefusedRows(em(), batch, refusedIds, reason);
  }

  /** Makes the calls of a batch. A call that is refused keeps no other from being made. @returns whether all are taken */
  async function start(work: OutboxWork, batch: OutboxBatch, contexts: TraceContexts): Promise<boolean> {
    const refusedIds: string[] = [];
    let reason: unknown;
    try {
      const calls = await work.calls(em(), batch);
      const deadline = Date.now() + CALL_DEADLINE_MS;
      const callNow = (one: WorkflowCall) =>
        client.withDeadline(deadline, () => callWorkflow(client, one, batch, deps.canStartEagerly ?? false));
      const call = work.isPatient ? (one: WorkflowCall) => patientCalls.run(batch.kind, () => callNow(one)) : callNow;
      await Promise.all(
        calls.map((one) =>
          inTraces(batch, one.subjectIds, contexts, () => call(one)).catch((error: unknown) => {
            refusedIds.push(...one.subjectIds);
            reason ??= error;
          }),
        ),
      );
    } catch (error) {
      refusedIds.push(...batch.subjectIds);
      reason = error;
    }
    if (refusedIds.length > 0) await keep(batch, refusedIds, reason);
    return refusedIds.length === 0;
  }

  /** Traced subjects get a workflow of their own, so that their trace shows it. */
  async function joins(batch: OutboxBatch, contexts: TraceContexts): Promise<boolean> {
    if (!deps.join || !batch.isNew || batch.subjectIds.some((id) => contexts.has(id))) return false;
    return deps.join(batch);
  }

  return async (work, batches) => {
    const contexts = await tracesOf(work, batches);
    const takenIds: string[] = [];
    let costInRows = 0;
    await Promise.all(
      batches.map(async (batch) => {
        const isJoined = await joins(batch, contexts);
        costInRows += batch.subjectIds.length * (isJoined ? COST_OF_JOINED : 1);
        if (isJoined || (await start(work, batch, contexts))) takenIds.push(batch.batchId);
      }),
    );
    if (takenIds.length > 0) await deleteOutboxBatches(em(), takenIds);
    return { isTaken: takenIds.length > 0, costInRows };
  };
}
