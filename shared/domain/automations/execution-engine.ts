import { AppError } from '../../pure/app-error.ts';
import {
  nextStep,
  stepLabel,
  triggerStep,
  pathLabel,
  type AutomationGraph,
  type GraphStep,
} from '../../pure/automations/automation-graph.ts';
import type { AdvanceOutcome } from '../../pure/workflow-contracts.ts';
import { inTransaction, type Em } from '../../database/sql.ts';
import { endedOutcome, endExecution, failureMessage } from './execution-end.ts';
import { findStepContact, resumeStep, runStep, type StepResult } from './run-step.ts';
import type { SendEmailDeps, StepContact } from './send-email-step.ts';
import { permanentReason, StepError } from './step-error.ts';
import {
  createGraphReader,
  findRecord,
  lockState,
  readState,
  removeOrphan,
  saveState,
  takeWait,
  type StepRecord,
  type ExecutionState,
} from './execution-state.ts';

export interface AdvanceOptions {
  /** The workflow's clock. */
  now: () => Date;
  /** The id of the workflow's run, for operators. */
  runId: string | null;
  /**
   * Whether an earlier attempt failed. Then each step has its own transaction, so the steps before the failing one
   * stay.
   */
  isRepetition: boolean;
}

/** The answer of a webhook, ready to be recorded. */
export interface WebhookResult {
  output: Record<string, unknown>;
  /** Why the step has failed for good; null when it has not. */
  fault: string | null;
}

export interface ExecutionEngine {
  /** Runs steps until the execution must wait or call a webhook, or ends. */
  advance: (executionId: string, options: AdvanceOptions) => Promise<AdvanceOutcome>;
  /** The webhook step that the execution is at; undefined when it is at another kind of step. */
  findWebhook: (executionId: string, options: AdvanceOptions) => Promise<PendingWebhook | undefined>;
  /** Records the answer of a webhook, and advances. If several attempts had an answer, the first one counts. */
  finishWebhook: (pending: PendingWebhook, result: WebhookResult, options: AdvanceOptions) => Promise<AdvanceOutcome>;
}

export interface PendingWebhook {
  state: ExecutionState;
  step: GraphStep;
  contact: StepContact;
}

/** Steps of one transaction. */
const STEPS_TOGETHER = 25;
/** Steps of one call of `advance`. The next call continues a longer path, so that no call exceeds its time limit. */
const STEPS_PER_CALL = 100;

type EngineDeps = SendEmailDeps & { em: () => Em };

/** What the parts of an engine share. */
interface Engine {
  deps: EngineDeps;
  readGraph: ReturnType<typeof createGraphReader>;
}

const DELETED: AdvanceOutcome = { kind: 'ended', status: 'DELETED', failure: null };

/**
 * Moves executions through their graphs. A step's effect and its record are one transaction, under a lock on the
 * execution. So no step takes effect twice, even after crashes and repetitions, and none after a cancellation.
 */
export function createExecutionEngine(deps: EngineDeps): ExecutionEngine {
  const engine: Engine = { deps, readGraph: createGraphReader() };
  return {
    advance: (executionId, options) => advance(engine, executionId, options),
    findWebhook: (executionId, options) => findWebhook(engine, executionId, options),
    finishWebhook: (pending, result, options) => finishWebhook(engine, pending, result, options),
  };
}

async function advance(engine: Engine, executionId: string, options: AdvanceOptions): Promise<AdvanceOutcome> {
  let limit = options.isRepetition ? 1 : STEPS_TOGETHER;
  for (let taken = 0; taken < STEPS_PER_CALL; taken += limit) {
    const seen: { stepNumber?: number } = {};
    try {
      const outcome = await runBatch(engine, executionId, limit, options, seen);
      if (outcome.kind !== 'more') return outcome;
    } catch (error) {
      const message = permanentReason(error);
      if (message === undefined) throw error;
      if (limit === 1 && seen.stepNumber !== undefined) {
        const outcome = await failStep(engine, executionId, seen.stepNumber, { error, message }, options);
        if (outcome) return outcome;
      }
      // From here on each step has its own transaction, so the steps before the failing one stay.
      limit = 1;
    }
  }
  return runBatch(engine, executionId, 0, options);
}

/**
 * Runs up to `limit` steps in one transaction. With 0 it only returns the step that the execution is at. `seen` gets the
 * number of the step at which the transaction began, also when it fails.
 */
async function runBatch(
  engine: Engine,
  executionId: string,
  limit: number,
  options: AdvanceOptions,
  seen: { stepNumber?: number } = {},
): Promise<AdvanceOutcome> {
  return inTransaction(engine.deps.em(), async (tx) => {
    const state = await lockState(tx, executionId);
    if (!state) {
      await removeOrphan(tx, executionId);
      return DELETED;
    }
    seen.stepNumber = state.stepNumber;
    const graph = await engine.readGraph(tx, state.graphId);
    if (!graph) throw new StepError('The steps that this execution started with no longer exist');
    if (!isActive(state)) return endedOutcome(state);
    state.runId = options.runId ?? state.runId;
    const batch: Batch = { deps: engine.deps, tx, state, graph, records: [], options };
    const outcome = await runSteps(batch, limit);
    await saveState(tx, state, batch.records);
    return outcome;
  });
}

/** The steps of one transaction. */
interface Batch {
  deps: EngineDeps;
  tx: Em;
  state: ExecutionState;
  graph: AutomationGraph;
  /** The records of the steps that have been run. */
  records: StepRecord[];
  options: AdvanceOptions;
}

async function runSteps(batch: Batch, limit: number): Promise<AdvanceOutcome> {
  const { deps, tx, state, graph, options } = batch;
  // Only the first step of a batch can be under way.
  let isUnderWay = state.stepNumber > 0;
  for (let taken = 0; ; taken++) {
    const step = findCurrentStep(state, graph);
    if (!step) throw new StepError('The next step is not among the steps that this execution started with');
    if (taken === limit) return { kind: 'more', next: pathLabel(graph, step) };
    if (state.stepNumber === 0) Object.assign(state, { stepNumber: 1, currentStepId: step.id });
    const startedAt = options.now();
    const record = isUnderWay ? await findRecord(tx, state.executionId, state.stepNumber) : undefined;
    isUnderWay = false;
    const current = { tx, state, graph, step, now: record ? options.now() : startedAt };
    const result = record ? await resumeStep(current, record) : await runStep(deps, current);
    const outcome = finishStep(batch, step, result, { startedAt, isRecorded: record !== undefined });
    if (outcome) return outcome;
  }
}

/** Records the result of a step, and moves to the next one. @returns the outcome if the execution stops at this step */
function finishStep(
  { state, graph, records, options }: Batch,
  step: GraphStep,
  result: StepResult,
  { startedAt, isRecorded }: { startedAt: Date; isRecorded: boolean },
): AdvanceOutcome | undefined {
  const record = { stepNumber: state.stepNumber, stepId: step.id, error: null, startedAt };
  if (result.kind === 'pause') {
    state.status = result.status;
    if (!isRecorded) records.push({ ...record, status: result.status, output: result.output, completedAt: null });
    return result.outcome;
  }
  state.resumeAt = null;
  const completedAt = options.now();
  if (result.kind === 'exit') {
    records.push({ ...record, status: 'COMPLETED', output: { reason: result.reason }, completedAt });
    return endExecution(state, 'EXITED', result.reason, completedAt);
  }
  records.push({ ...record, status: result.status ?? 'COMPLETED', output: result.output, completedAt });
  return moveOn(state, nextStep(graph, step.id, result.branch ?? null), completedAt);
}

function moveOn(state: ExecutionState, next: GraphStep | undefined, at: Date): AdvanceOutcome | undefined {
  if (!next) return endExecution(state, 'COMPLETED', null, at);
  state.status = 'RUNNING';
  state.stepNumber += 1;
  state.currentStepId = next.id;
  return undefined;
}

/**
 * Ends an execution that fails at the step of that number. @returns undefined when it has moved on meanwhile
 */
async function failStep(
  engine: Engine,
  executionId: string,
  stepNumber: number,
  { error, message }: { error: unknown; message: string },
  options: AdvanceOptions,
): Promise<AdvanceOutcome | undefined> {
  return inTransaction(engine.deps.em(), async (tx) => {
    const state = await lockState(tx, executionId);
    if (!state) return DELETED;
    if (!isActive(state)) return endedOutcome(state);
    if (state.stepNumber !== stepNumber) return undefined;
    state.runId = options.runId ?? state.runId;
    const step = findCurrentStep(state, await engine.readGraph(tx, state.graphId));
    const at = options.now();
    await takeWait(tx, executionId, { evenWithoutEvent: true });
    // The contact was deleted while the execution started, so the execution cannot go on.
    const isGone = error instanceof AppError && error.code === 'CONTACT_NOT_FOUND';
    const outcome = endExecution(state, isGone ? 'CANCELLED' : 'FAILED', isGone ? 'contact deleted' : message, at);
    if (step) Object.assign(state, { stepNumber: Math.max(state.stepNumber, 1), currentStepId: step.id });
    const record: StepRecord = {
      stepNumber: state.stepNumber,
      stepId: step?.id ?? state.currentStepId ?? state.graphId,
      status: isGone ? 'SKIPPED' : 'FAILED',
      output: error instanceof StepError ? error.output : null,
      error: isGone ? null : message,
      startedAt: at,
      completedAt: at,
    };
    await saveState(tx, state, [record]);
    return isGone ? outcome : { ...outcome, failure: failureMessage(state, step && stepLabel(step)) };
  });
}

async function findWebhook(
  engine: Engine,
  executionId: string,
  options: AdvanceOptions,
): Promise<PendingWebhook | undefined> {
  const em = engine.deps.em();
  const state = await readState(em, executionId);
  if (state?.status !== 'RUNNING') return undefined;
  const step = findCurrentStep(state, await engine.readGraph(em, state.graphId));
  if (step?.type !== 'WEBHOOK') return undefined;
  const contact = await findStepContact(em, state);
  if (contact) return { state, step, contact };
  const gone = new AppError('CONTACT_NOT_FOUND');
  await failStep(engine, executionId, state.stepNumber, { error: gone, message: gone.message }, options);
  return undefined;
}

async function finishWebhook(
  engine: Engine,
  { state: seen, step }: PendingWebhook,
  result: WebhookResult,
  options: AdvanceOptions,
): Promise<AdvanceOutcome> {
  const { executionId } = seen;
  const isAtStep = (state: ExecutionState) => state.status === 'RUNNING' && state.stepNumber === seen.stepNumber;
  if (result.fault !== null) {
    const fault = { error: new StepError(result.fault, result.output), message: result.fault };
    const outcome = await failStep(engine, executionId, seen.stepNumber, fault, options);
    return outcome ?? advance(engine, executionId, options);
  }
  await inTransaction(engine.deps.em(), async (tx) => {
    const state = await lockState(tx, executionId);
    const graph = state && (await engine.readGraph(tx, state.graphId));
    if (!state || !graph || !isAtStep(state)) return;
    const at = options.now();
    const record = { stepNumber: state.stepNumber, stepId: step.id, error: null, startedAt: at, completedAt: at };
    moveOn(state, nextStep(graph, step.id, null), at);
    state.runId = options.runId ?? state.runId;
    await saveState(tx, state, [{ ...record, status: 'COMPLETED', output: result.output }]);
  });
  return advance(engine, executionId, options);
}

function isActive(state: ExecutionState): boolean {
  return state.status === 'RUNNING' || state.status === 'WAITING';
}

function findCurrentStep(state: ExecutionState, graph: AutomationGraph | undefined): GraphStep | undefined {
  if (state.stepNumber === 0) return graph && triggerStep(graph);
  return graph?.steps.find((step) => step.id === state.currentStepId);
}
