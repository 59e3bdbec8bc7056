import type { EndedExecutionStatus } from '../../pure/automations/automation-status.ts';
import type { AdvanceOutcome } from '../../pure/workflow-contracts.ts';
import type { ExecutionState } from './execution-state.ts';

/** Marks the state as ended; the caller saves it. */
export function endExecution(
  state: ExecutionState,
  status: EndedExecutionStatus,
  reason: string | null,
  at: Date,
): Extract<AdvanceOutcome, { kind: 'ended' }> {
  Object.assign(state, { status, exitReason: reason, resumeAt: null, completedAt: at });
  return { kind: 'ended', status, failure: null };
}

/** The outcome of an execution that had ended before. */
export function endedOutcome(state: ExecutionState): AdvanceOutcome {
  const status = state.status as EndedExecutionStatus;
  const failure = status === 'FAILED' ? failureMessage(state, undefined) : null;
  return { kind: 'ended', status, failure };
}

/**
 * The message of the failed workflow. The reason may name a person, so it is only in the execution, which can be
 * erased.
 */
export function failureMessage(state: ExecutionState, step: string | undefined): string {
  const executions = `/workflows/${state.automationId}/executions`;
  const entry = state.allowReentry
    ? ''
    : ` The workflow lets a contact in once: set allowReentry before, with PATCH /workflows/${state.automationId}.`;
  return (
    `${step === undefined ? 'A step' : `Step "${step}"`} failed; GET ${executions}/${state.executionId} says why. ` +
    `Repair its cause, then start the contact ${state.contactId} again with POST ${executions}.${entry}`
  );
}
