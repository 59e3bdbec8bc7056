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
  const execution = `/workflows/${state.automationId}/executions/${state.executionId}`;
  return (
    `${step === undefined ? 'A step' : `Step "${step}"`} failed; GET ${execution} says why. ` +
    `Repair its cause; then POST ${execution}/retry, or Reset in Temporal, has it go on at this step.`
  );
}
