import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import {
  CURRENT_STEP_QUERY,
  EVENT_ARRIVED_SIGNAL,
  EXECUTION_RETRIED_SIGNAL,
  type AutomationExecutionInput,
  type EventArrived,
  type AdvanceOutcome,
} from '../../shared/pure/workflow-contracts.ts';
import { reasonOf } from '../failure-reason.ts';
import { database, steps, stepsInTask, webhooks } from '../proxies.ts';

export const eventArrivedSignal = defineSignal<[EventArrived]>(EVENT_ARRIVED_SIGNAL);
export const executionRetriedSignal = defineSignal(EXECUTION_RETRIED_SIGNAL);
export const currentStepQuery = defineQuery<string>(CURRENT_STEP_QUERY);

const HISTORY_EVENTS_MAX = 1_500;
/** The longest timer. A date far in the future takes several timers. */
const TIMER_MS_MAX = 300 * 24 * 60 * 60 * 1_000;

/**
 * The execution of an automation for one contact. The workflow never sees the graph: an activity runs the steps,
 * records them and returns what to wait for, and the workflow waits. PostgreSQL decides what has happened, so a timer
 * that coincides with an event, a repeated signal and a repeated call do no harm. It continues as new between two
 * steps.
 */
export async function automationExecution({
  executionId,
  next: first,
}: AutomationExecutionInput): Promise<AdvanceOutcome> {
  let arrivals = 0;
  let at = first;
  let next = first;
  setHandler(eventArrivedSignal, () => {
    arrivals++;
  });
  // The signal only has to come before the run closes: then the end of the run is decided again.
  setHandler(executionRetriedSignal, () => undefined);
  setHandler(currentStepQuery, () => at);

  for (;;) {
    try {
      return await advance();
    } catch (error) {
      if (isCancellation(error)) {
        await CancellationScope.nonCancellable(() => database.cancelExecution({ executionId }));
        throw error;
      }
      if (error instanceof ActivityFailure) await database.failExecution({ executionId, reason: reasonOf(error) });
      if (!(await isRetried(executionId, error))) throw error;
    }
  }

  async function advance(): Promise<AdvanceOutcome> {
    for (;;) {
      if (shouldContinueAsNew()) await continueAsNew<typeof automationExecution>({ executionId, next });
      show(next);
      const seen = arrivals;
      let outcome = await runSteps(next);
      while (outcome.kind === 'webhook' && !shouldContinueAsNew()) {
        show(outcome.next);
        outcome = await webhooks.callWebhook.executeWithOptions({ summary: outcome.next }, [
          { executionId, asOfMs: Date.now() },
        ]);
      }
      if (outcome.kind === 'ended') return ended(outcome);
      if (outcome.kind === 'delay' || outcome.kind === 'wait') await pause(outcome, seen);
      next = outcome.next;
    }
  }

  /** Runs steps within this workflow task if possible, else in an activity that is repeated until it succeeds. */
  async function runSteps(summary: string): Promise<AdvanceOutcome> {
    try {
      return await stepsInTask.runSteps.executeWithOptions({ summary }, [{ executionId, asOfMs: Date.now() }]);
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
    return steps.runSteps.executeWithOptions({ summary }, [{ executionId, asOfMs: Date.now() }]);
  }

  async function pause(outcome: Extract<AdvanceOutcome, { kind: 'delay' | 'wait' }>, seen: number): Promise<void> {
    show(outcome.label);
    const waitMs = outcome.untilMs === null ? null : Math.min(outcome.untilMs - Date.now(), TIMER_MS_MAX);
    if (waitMs !== null && waitMs <= 0) return;
    if (outcome.kind === 'delay') {
      if (waitMs !== null) await sleep(waitMs, { summary: outcome.label });
    } else if (waitMs === null) {
      await condition(() => arrivals !== seen);
    } else {
      await condition(() => arrivals !== seen, waitMs, { summary: outcome.label });
    }
  }

  function show(step: string): void {
    at = step;
    setCurrentDetails(`At **${step}**.`);
  }
}

/**
 * Whether a run that is about to fail goes on, because its execution is retried. It asks within the workflow task that
 * would close the run. So a Reset to this task asks again, and so does a task that is repeated because the signal of a
 * retry has come meanwhile.
 */
async function isRetried(executionId: string, error: unknown): Promise<boolean> {
  if (!(error instanceof ActivityFailure || error instanceof ApplicationFailure)) return false;
  const { originalExecutionRunId: originalRunId } = workflowInfo();
  try {
    return await stepsInTask.isRetried.executeWithOptions({ summary: 'Is it retried?' }, [
      { executionId, originalRunId },
    ]);
  } catch (asking) {
    if (isCancellation(asking)) throw asking;
    return false;
  }
}

function ended(outcome: Extract<AdvanceOutcome, { kind: 'ended' }>): AdvanceOutcome {
  if (outcome.failure !== null) throw ApplicationFailure.nonRetryable(outcome.failure, 'StepFailed');
  return outcome;
}

function shouldContinueAsNew(): boolean {
  const info = workflowInfo();
  return info.continueAsNewSuggested || info.historyLength > HISTORY_EVENTS_MAX;
}
