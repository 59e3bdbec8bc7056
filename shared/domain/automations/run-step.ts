import { AppError } from '../../pure/app-error.ts';
import { conditionTree, delayMs, readConfigOf, readContactUpdate } from '../../pure/automations/automation-config.ts';
import {
  nextStep,
  stepLabel,
  pathLabel,
  type AutomationGraph,
  type GraphStep,
} from '../../pure/automations/automation-graph.ts';
import type { Branch, StepExecutionStatus } from '../../pure/automations/automation-status.ts';
import { jsonBytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { AdvanceOutcome } from '../../pure/workflow-contracts.ts';
import { lockContacts } from '../contacts/contact-locks.ts';
import { patchContact } from '../contacts/contacts.ts';
import { atCallersCost } from '../../database/database-errors.ts';
import { columnsOf, queryOne, queryPrepared, sql, type Em } from '../../database/sql.ts';
import { boolean } from '../../database/tables.ts';
import { compileFilter } from '../filters/filter-compiler.ts';
import { loadReferencedSegments } from '../filters/segment-references.ts';
import { sendEmailStep, STEP_CONTACT, type SendEmailDeps, type StepContact } from './send-email-step.ts';
import { chooseTopics } from '../topics/topic-choices.ts';
import { StepError } from './step-error.ts';
import { registerWait, takeWait, type StepRecord, type ExecutionState } from './execution-state.ts';

/** The result of a step: it is done, it ends the execution, or the execution pauses at it. */
export type StepResult =
  | { kind: 'done'; status?: StepExecutionStatus; output: Record<string, unknown> | null; branch?: Branch }
  | { kind: 'exit'; reason: string | null }
  | { kind: 'pause'; outcome: AdvanceOutcome; status: 'WAITING' | 'RUNNING'; output: Record<string, unknown> | null };

/** A step, and the execution that has reached it. */
export interface CurrentStep {
  tx: Em;
  state: ExecutionState;
  graph: AutomationGraph;
  step: GraphStep;
  now: Date;
}

/** Runs the step that the execution has just reached. @throws StepError, AppError when the step has failed for good */
export async function runStep(deps: SendEmailDeps, current: CurrentStep): Promise<StepResult> {
  const { tx, state, graph, step, now } = current;
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
      const { eventName, humanOnly = false, timeout } = readConfigOf('WAIT_FOR_EVENT', step.config);
      await registerWait(tx, state, eventName, humanOnly);
      state.resumeAt = typeof timeout === 'number' ? new Date(now.getTime() + timeout * 1_000) : null;
      return pauseForEvent(step, eventName, state.resumeAt);
    }
    case 'CONDITION': {
      const holds = await evaluateCondition(tx, state, step, now);
      const branch = holds ? 'yes' : 'no';
      return { kind: 'done', output: { result: holds, branch }, branch };
    }
    case 'WEBHOOK':
      return pauseForWebhook(step);
    case 'UPDATE_CONTACT': {
      return { kind: 'done', output: await updateContact(tx, state, step) };
    }
    case 'EXIT':
      return { kind: 'exit', reason: readConfigOf('EXIT', step.config).reason ?? null };
    default:
      throw new StepError(`This version of Everpost has no steps of the type ${String(step.type)}`);
  }
}

/** Continues a step that is under way: it is done, or the execution waits longer. */
export async function resumeStep(
  { tx, state, graph, step, now }: CurrentStep,
  record: StepRecord,
): Promise<StepResult> {
  const isDue = state.resumeAt !== null && state.resumeAt <= now;
  if (step.type === 'WEBHOOK') return pauseForWebhook(step);
  if (step.type === 'DELAY') {
    return isDue || state.resumeAt === null
      ? { kind: 'done', output: record.output }
      : pauseUntil(graph, step, state.resumeAt);
  }
  if (step.type !== 'WAIT_FOR_EVENT') return { kind: 'done', output: record.output };
  const { eventName } = readConfigOf('WAIT_FOR_EVENT', step.config);
  // The order of locks: a statement that records an event locks the contact first and then the waits.
  await lockContacts(tx, state.projectId, [state.contactId], 'change');
  const wait = await takeWait(tx, state.executionId, { evenWithoutEvent: isDue });
  if (!wait) return pauseForEvent(step, eventName, state.resumeAt);
  if (wait.eventId === null) return { kind: 'done', output: { branch: 'timeout', eventName }, branch: 'timeout' };
  const data = wait.data ?? {};
  state.context = mergeContext(state.context, data);
  return { kind: 'done', output: { branch: 'event', eventName, eventId: wait.eventId, data }, branch: 'event' };
}

async function updateContact(tx: Em, state: ExecutionState, step: GraphStep): Promise<Record<string, unknown>> {
  const { topics, ...patch } = readContactUpdate(readConfigOf('UPDATE_CONTACT', step.config));
  const cause = { reason: 'workflow', ...state } as const;
  await patchContact(tx, state.projectId, state.contactId, patch, cause);
  await chooseTopics(tx, state.projectId, state.contactId, topics, cause);
  return { updated: Object.keys(patch.data ?? {}), subscribed: patch.subscribed ?? null, ...(topics && { topics }) };
}

async function evaluateCondition(tx: Em, state: ExecutionState, step: GraphStep, asOf: Date): Promise<boolean> {
  const condition = conditionTree(readConfigOf('CONDITION', step.config));
  const { projectId } = state;
  const segments = await loadReferencedSegments(tx, projectId, condition, { isLive: true });
  const predicate = compileFilter(condition, { asOf, projectId, segments, eventContext: state.context });
  const statement = sql`select (${predicate}) is true as holds from contact c where c.id = ${state.contactId}`;
  const row = await atCallersCost(() => queryOne(tx, statement, { holds: boolean }));
  if (!row) throw new AppError('CONTACT_NOT_FOUND');
  return row.holds;
}

/** Adds the data of an event to the context. @throws StepError when the context would become too large */
function mergeContext(context: Record<string, unknown>, data: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...context, ...data };
  if (jsonBytes(merged, LIMITS.executionContextBytes) <= LIMITS.executionContextBytes) return merged;
  throw new StepError(
    `The context would be larger than ${LIMITS.executionContextBytes} bytes with the data of the event`,
  );
}

function pauseForWebhook(step: GraphStep): StepResult {
  return { kind: 'pause', status: 'RUNNING', output: null, outcome: { kind: 'webhook', next: stepLabel(step) } };
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
      next: next ? pathLabel(graph, next) : `after ${stepLabel(step)}`,
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

async function contactOf(em: Em, state: ExecutionState): Promise<StepContact> {
  const contact = await findStepContact(em, state);
  if (!contact) throw new AppError('CONTACT_NOT_FOUND');
  return contact;
}

/** The contact of an execution; undefined once it is deleted. */
export async function findStepContact(em: Em, state: ExecutionState): Promise<StepContact | undefined> {
  const [contact] = await queryPrepared(
    em,
    sql`
      select ${columnsOf(STEP_CONTACT)} from contact
      where id = ${state.contactId} and project_id = ${state.projectId}`,
    STEP_CONTACT,
  );
  return contact;
}
