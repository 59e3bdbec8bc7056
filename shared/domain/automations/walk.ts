import { AppError } from '../../pure/app-error.ts';
import { conditionTree, delayMs, readConfigOf, readContactUpdate } from '../../pure/automations/automation-config.ts';
import {
  nextStep,
  stepLabel,
  triggerStep,
  walkLabel,
  type AutomationGraph,
  type GraphStep,
} from '../../pure/automations/automation-graph.ts';
import type { Branch, EndedExecutionStatus, StepExecutionStatus } from '../../pure/automations/automation-status.ts';
import { jsonBytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { WalkOutcome } from '../../pure/workflow-contracts.ts';
import { lockContacts } from '../contacts/contact-locks.ts';
import { patchContact } from '../contacts/contacts.ts';
import type { Em } from '../database/em.ts';
import { compileFilter } from '../filters/filter-compiler.ts';
import { loadReferencedSegments } from '../filters/segment-references.ts';
import { queryOne, queryPrepared, sql } from '../database/sql.ts';
import { sendEmailStep, type SendEmailDeps, type StepContact } from './send-email-step.ts';
import { permanentReason, StepFault } from './step-fault.ts';
import {
  createGraphReader,
  findRecord,
  lockState,
  readState,
  registerWait,
  removeOrphan,
  saveState,
  takeWait,
  type StepRecord,
  type WalkState,
} from './walk-state.ts';
import { inTransaction } from '../database/transaction.ts';

export interface WalkOptions {
  /** The workflow's clock. */
  now: () => Date;
  /** The run that walks, for those who look for it in Temporal. */
  runId: string | null;
  /** An attempt before this one failed, so each step is committed by itself: those before the faulty one are kept. */
  isRepetition: boolean;
}

/** What a webhook answered, ready to be recorded. */
export interface WebhookResult {
  output: Record<string, unknown>;
  /** Why the step has failed for good; null when it has not. */
  fault: string | null;
}

export interface Walker {
  /** Walks on until the execution has to wait, to call a webhook, or ends. */
  walk: (executionId: string, options: WalkOptions) => Promise<WalkOutcome>;
  /** The webhook step that the execution has come to; undefined when it is not at one (any more). */
  findWebhook: (executionId: string, options: WalkOptions) => Promise<PendingWebhook | undefined>;
  /** Records what a webhook answered, and walks on. Another attempt may have been first; then its answer stands. */
  finishWebhook: (pending: PendingWebhook, result: WebhookResult, options: WalkOptions) => Promise<WalkOutcome>;
}

export interface PendingWebhook {
  state: WalkState;
  step: GraphStep;
  contact: StepContact;
}

/** Steps that one transaction takes together; each writes a record of its own. */
const STEPS_TOGETHER = 25;
/** A call that walks longer hands over to the next, so that none runs into its time limit. */
const STEPS_PER_CALL = 100;

type StepResult =
  | { kind: 'done'; status?: StepExecutionStatus; output: Record<string, unknown> | null; branch?: Branch }
  | { kind: 'exit'; reason: string | null }
  | { kind: 'pause'; outcome: WalkOutcome; status: 'WAITING' | 'RUNNING'; output: Record<string, unknown> | null };

/**
 * Walks executions through their graphs. What a step does and the record of it are one transaction, under a lock on the
 * execution: no step takes effect twice, whatever dies or is repeated, and none after a cancellation.
 */
export function createWalker(deps: SendEmailDeps & { em: () => Em }): Walker {
  const readGraph = createGraphReader();

  async function walk(executionId: string, options: WalkOptions): Promise<WalkOutcome> {
    let limit = options.isRepetition ? 1 : STEPS_TOGETHER;
    for (let walked = 0; walked < STEPS_PER_CALL; walked += limit) {
      try {
        const outcome = await inTransaction(deps.em(), (tx) => walkTogether(tx, executionId, limit, options));
        if (outcome.kind !== 'more') return outcome;
      } catch (error) {
        const message = permanentReason(error);
        if (message === undefined) throw error;
        // The steps before the faulty one succeeded: once more, each in a transaction of its own.
        if (limit > 1) limit = 1;
        else return failStep(executionId, error, message, options);
      }
    }
    return inTransaction(deps.em(), (tx) => walkTogether(tx, executionId, 0, options));
  }

  async function walkTogether(tx: Em, executionId: string, limit: number, options: WalkOptions): Promise<WalkOutcome> {
    const state = await lockState(tx, executionId);
    if (!state) {
      await removeOrphan(tx, executionId);
      return { kind: 'ended', status: 'DELETED', failure: null };
    }
    const graph = await readGraph(tx, state.graphId);
    if (!graph) throw new StepFault('The steps this execution started with are gone');
    if (state.status !== 'RUNNING' && state.status !== 'WAITING') return endedOutcome(state);
    state.runId = options.runId ?? state.runId;
    const records: StepRecord[] = [];
    const outcome = await takeSteps(tx, state, graph, records, limit, options);
    await saveState(tx, state, records);
    return outcome;
  }

  async function takeSteps(
    tx: Em,
    state: WalkState,
    graph: AutomationGraph,
    records: StepRecord[],
    limit: number,
    options: WalkOptions,
  ): Promise<WalkOutcome> {
    const isFresh = state.visit === 0;
    for (let taken = 0; ; taken++) {
      const step = findCurrentStep(state, graph);
      if (!step) throw new StepFault('The step this execution has come to is not among those it started with');
      if (taken === limit) return { kind: 'more', next: walkLabel(graph, step) };
      if (state.visit === 0) Object.assign(state, { visit: 1, currentStepId: step.id });
      const startedAt = options.now();
      const record = taken > 0 || isFresh ? undefined : await findRecord(tx, state.executionId, state.visit);
      const result = record
        ? await resumeStep(tx, state, graph, step, record, options)
        : await runStep(tx, state, graph, step, startedAt);
      const done = { visit: state.visit, stepId: step.id, error: null, startedAt };
      if (result.kind === 'pause') {
        state.status = result.status;
        if (!record) records.push({ ...done, status: result.status, output: result.output, completedAt: null });
        return result.outcome;
      }
      state.resumeAt = null;
      if (result.kind === 'exit') {
        records.push({ ...done, status: 'COMPLETED', output: { reason: result.reason }, completedAt: options.now() });
        return end(state, 'EXITED', result.reason, options);
      }
      records.push({
        ...done,
        status: result.status ?? 'COMPLETED',
        output: result.output,
        completedAt: options.now(),
      });
      const next = nextStep(graph, step.id, result.branch ?? null);
      if (!next) return end(state, 'COMPLETED', null, options);
      state.status = 'RUNNING';
      state.visit += 1;
      state.currentStepId = next.id;
    }
  }

  async function runStep(
    tx: Em,
    state: WalkState,
    graph: AutomationGraph,
    step: GraphStep,
    now: Date,
  ): Promise<StepResult> {
    switch (step.type) {
      case 'TRIGGER':
        return { kind: 'done', output: null };
      case 'SEND_EMAIL': {
        const sent = await sendEmailStep(deps, tx, state, step, await contactOf(tx, state));
        return { kind: 'done', status: sent.isSkipped ? 'SKIPPED' : 'COMPLETED', output: sent.output };
      }
      case 'DELAY': {
        const until = new Date(now.getTime() + delayMs(readConfigOf('DELAY', step.config)));
        state.resumeAt = until;
        return pauseUntil(graph, step, until);
      }
      case 'WAIT_FOR_EVENT': {
        const { eventName, timeout } = readConfigOf('WAIT_FOR_EVENT', step.config);
        await registerWait(tx, state, eventName);
        state.resumeAt = typeof timeout === 'number' ? new Date(now.getTime() + timeout * 1_000) : null;
        return pauseForEvent(step, eventName, state.resumeAt);
      }
      case 'CONDITION': {
        const holds = await evaluate(tx, state, step, now);
        const branch = holds ? 'yes' : 'no';
        return { kind: 'done', output: { result: holds, branch }, branch };
      }
      case 'WEBHOOK':
        return { kind: 'pause', status: 'RUNNING', output: null, outcome: { kind: 'webhook', next: stepLabel(step) } };
      case 'UPDATE_CONTACT': {
        const patch = readContactUpdate(readConfigOf('UPDATE_CONTACT', step.config));
        await patchContact(tx, state.projectId, state.contactId, patch, state);
        const output = { updated: Object.keys(patch.data ?? {}), subscribed: patch.subscribed ?? null };
        return { kind: 'done', output };
      }
      case 'EXIT':
        return { kind: 'exit', reason: readConfigOf('EXIT', step.config).reason ?? null };
      default:
        throw new StepFault(`This version knows no step of the type ${String(step.type)}`);
    }
  }

  /** A step that is under way already: over, or to be waited for further. */
  async function resumeStep(
    tx: Em,
    state: WalkState,
    graph: AutomationGraph,
    step: GraphStep,
    record: StepRecord,
    options: WalkOptions,
  ): Promise<StepResult> {
    const isDue = state.resumeAt !== null && state.resumeAt <= options.now();
    if (step.type === 'WEBHOOK') {
      return { kind: 'pause', status: 'RUNNING', output: null, outcome: { kind: 'webhook', next: stepLabel(step) } };
    }
    if (step.type === 'DELAY') {
      return isDue || state.resumeAt === null
        ? { kind: 'done', output: record.output }
        : pauseUntil(graph, step, state.resumeAt);
    }
    if (step.type !== 'WAIT_FOR_EVENT') return { kind: 'done', output: record.output };
    const { eventName } = readConfigOf('WAIT_FOR_EVENT', step.config);
    // An event locks its contact first and the waits for it second; a later step may change the contact.
    await lockContacts(tx, state.projectId, [state.contactId], 'change');
    const wait = await takeWait(tx, state.executionId, { evenWithoutEvent: isDue });
    if (!wait) return pauseForEvent(step, eventName, state.resumeAt);
    if (wait.eventId === null) return { kind: 'done', output: { branch: 'timeout', eventName }, branch: 'timeout' };
    const data = wait.data ?? {};
    state.context = mergeContext(state.context, data);
    return { kind: 'done', output: { branch: 'event', eventName, eventId: wait.eventId, data }, branch: 'event' };
  }

  async function evaluate(tx: Em, state: WalkState, step: GraphStep, asOf: Date): Promise<boolean> {
    const condition = conditionTree(readConfigOf('CONDITION', step.config));
    const { projectId } = state;
    const segments = await loadReferencedSegments(tx, projectId, condition, { isLive: true });
    const predicate = compileFilter(condition, { asOf, projectId, segments, eventContext: state.context });
    const row = await queryOne<{ holds: boolean }>(
      tx,
      sql`select (${predicate}) is true as holds from contact c where c.id = ${state.contactId}`,
    );
    if (!row) throw new AppError('CONTACT_NOT_FOUND');
    return row.holds;
  }

  async function failStep(
    executionId: string,
    error: unknown,
    message: string,
    options: WalkOptions,
  ): Promise<WalkOutcome> {
    return inTransaction(deps.em(), async (tx) => {
      const state = await lockState(tx, executionId);
      if (!state) return { kind: 'ended', status: 'DELETED', failure: null };
      if (state.status !== 'RUNNING' && state.status !== 'WAITING') return endedOutcome(state);
      const step = findCurrentStep(state, await readGraph(tx, state.graphId));
      const at = options.now();
      await takeWait(tx, executionId, { evenWithoutEvent: true });
      // The contact was deleted in the moment the execution started: there is nobody to go on with.
      const isGone = error instanceof AppError && error.code === 'CONTACT_NOT_FOUND';
      const outcome = end(state, isGone ? 'CANCELLED' : 'FAILED', isGone ? 'contact deleted' : message, options);
      if (step) Object.assign(state, { visit: Math.max(state.visit, 1), currentStepId: step.id });
      const record: StepRecord = {
        visit: state.visit,
        stepId: step?.id ?? state.currentStepId ?? state.graphId,
        status: isGone ? 'SKIPPED' : 'FAILED',
        output: error instanceof StepFault ? error.output : null,
        error: isGone ? null : message,
        startedAt: at,
        completedAt: at,
      };
      await saveState(tx, state, [record]);
      return isGone ? outcome : { ...outcome, failure: failureMessage(state, step && stepLabel(step)) };
    });
  }

  async function findWebhook(executionId: string, options: WalkOptions): Promise<PendingWebhook | undefined> {
    const em = deps.em();
    const state = await readState(em, executionId);
    if (state?.status !== 'RUNNING') return undefined;
    const step = findCurrentStep(state, await readGraph(em, state.graphId));
    if (step?.type !== 'WEBHOOK') return undefined;
    const contact = await findStepContact(em, state);
    if (contact) return { state, step, contact };
    const gone = new AppError('CONTACT_NOT_FOUND');
    await failStep(executionId, gone, gone.message, options);
    return undefined;
  }

  async function finishWebhook(
    { state: seen, step }: PendingWebhook,
    result: WebhookResult,
    options: WalkOptions,
  ): Promise<WalkOutcome> {
    const { executionId } = seen;
    const isAtStep = (state: WalkState) => state.status === 'RUNNING' && state.visit === seen.visit;
    if (result.fault !== null) {
      const current = await readState(deps.em(), executionId);
      if (!current || !isAtStep(current)) return walk(executionId, options);
      return failStep(executionId, new StepFault(result.fault, result.output), result.fault, options);
    }
    await inTransaction(deps.em(), async (tx) => {
      const state = await lockState(tx, executionId);
      const graph = state && (await readGraph(tx, state.graphId));
      if (!state || !graph || !isAtStep(state)) return;
      const at = options.now();
      const record = { visit: state.visit, stepId: step.id, error: null, startedAt: at, completedAt: at };
      const next = nextStep(graph, step.id, null);
      if (next) {
        state.visit += 1;
        state.currentStepId = next.id;
      } else {
        end(state, 'COMPLETED', null, options);
      }
      state.runId = options.runId ?? state.runId;
      await saveState(tx, state, [{ ...record, status: 'COMPLETED', output: result.output }]);
    });
    return walk(executionId, options);
  }

  return { walk, findWebhook, finishWebhook };
}

/** @throws StepFault when the execution would hold more than it may */
function mergeContext(context: Record<string, unknown>, data: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...context, ...data };
  if (jsonBytes(merged, LIMITS.executionContextBytes) <= LIMITS.executionContextBytes) return merged;
  throw new StepFault(
    `With the data of the event the context would be larger than ${LIMITS.executionContextBytes} bytes`,
  );
}

function findCurrentStep(state: WalkState, graph: AutomationGraph | undefined): GraphStep | undefined {
  if (state.visit === 0) return graph && triggerStep(graph);
  return graph?.steps.find((step) => step.id === state.currentStepId);
}

function pauseUntil(graph: AutomationGraph, step: GraphStep, until: Date): StepResult {
  const next = nextStep(graph, step.id, null);
  return {
    kind: 'pause',
    status: 'WAITING',
    output: { resumeAt: until.toISOString() },
    outcome: {
      kind: 'delay',
      label: stepLabel(step),
      untilMs: until.getTime(),
      next: next ? walkLabel(graph, next) : `after ${stepLabel(step)}`,
    },
  };
}

function pauseForEvent(step: GraphStep, eventName: string, until: Date | null): StepResult {
  return {
    kind: 'pause',
    status: 'WAITING',
    output: { eventName, expiresAt: until?.toISOString() ?? null },
    outcome: {
      kind: 'wait',
      label: stepLabel(step),
      untilMs: until?.getTime() ?? null,
      next: `after ${stepLabel(step)}`,
    },
  };
}

function end(
  state: WalkState,
  status: EndedExecutionStatus,
  reason: string | null,
  options: WalkOptions,
): Extract<WalkOutcome, { kind: 'ended' }> {
  Object.assign(state, { status, exitReason: reason, resumeAt: null, completedAt: options.now() });
  return { kind: 'ended', status, failure: null };
}

function endedOutcome(state: WalkState): WalkOutcome {
  const status = state.status as EndedExecutionStatus;
  const failure = status === 'FAILED' ? failureMessage(state, undefined) : null;
  return { kind: 'ended', status, failure };
}

/** For Temporal, so without the reason: that may name a person, and stands in the execution, which can be erased. */
function failureMessage(state: WalkState, step: string | undefined): string {
  const executions = `/workflows/${state.automationId}/executions`;
  const entry = state.allowReentry
    ? ''
    : ` The workflow lets a contact in once: set allowReentry before, with PATCH /workflows/${state.automationId}.`;
  return (
    `${step === undefined ? 'A step' : `Step "${step}"`} failed; GET ${executions}/${state.executionId} says why. ` +
    `Repair its cause, then start the contact ${state.contactId} again with POST ${executions}.${entry}`
  );
}

async function contactOf(em: Em, state: WalkState): Promise<StepContact> {
  const contact = await findStepContact(em, state);
  if (!contact) throw new AppError('CONTACT_NOT_FOUND');
  return contact;
}

async function findStepContact(em: Em, state: WalkState): Promise<StepContact | undefined> {
  const [contact] = await queryPrepared<StepContact>(
    em,
    sql`select id, email, subscribed, data from contact where id = ${state.contactId} and project_id = ${state.projectId}`,
  );
  return contact;
}
