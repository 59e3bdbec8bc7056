import { activityInfo, sleep } from '@temporalio/activity';
import { cancelExecutions } from '../../shared/domain/automations/cancel-executions.ts';
import { failExecution } from '../../shared/domain/automations/fail-execution.ts';
import {
  createExecutionEngine,
  type PendingWebhook,
  type AdvanceOptions,
  type WebhookResult,
} from '../../shared/domain/automations/execution-engine.ts';
import { reopenInRun } from '../../shared/domain/automations/retry-executions.ts';
import { isDatabaseUnavailable } from '../../shared/database/database-errors.ts';
import { createEmailCompiler } from '../../shared/sending/compose/compiled-email.ts';
import type { AdvanceOutcome } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';
import { createWebhookCall } from './webhook-call.ts';

export interface ExecutionRef {
  executionId: string;
}

export interface FailedExecution extends ExecutionRef {
  /** Stored with the execution, for operators. */
  reason: string;
}

export interface EndingRun extends ExecutionRef {
  /** The run that the history began with; another one than the present run after a Reset in Temporal. */
  originalRunId: string;
}

export interface AdvanceInput extends ExecutionRef {
  /** The time of the workflow, in milliseconds since 1970. */
  asOfMs: number;
}

/** How long recording an answer is tried. An attempt may take two minutes, and the call takes some seconds. */
const RECORD_MS = 60_000;
const RECORD_PAUSE_MS = 1_000;

/** Activities of the workflow `automationExecution`. */
export function createAutomationActivities(deps: ActivityDeps) {
  const engine = createExecutionEngine({
    em: () => deps.orm.em.fork(),
    links: deps.links,
    compileEmail: createEmailCompiler(),
    messageBytesMax: deps.config.MESSAGE_MAX_BYTES,
  });
  const call = createWebhookCall(deps);

  /** The options of an attempt. The time of the workflow continues while the activity works and is repeated. */
  function advanceOptions(asOfMs: number): AdvanceOptions {
    const info = activityInfo();
    const beganAt = performance.now();
    const attemptMs = asOfMs + info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
    return {
      now: () => new Date(attemptMs + performance.now() - beganAt),
      runId: info.workflowExecution?.runId ?? null,
      isRepetition: info.attempt > 1,
    };
  }

  /**
   * Records the answer. Waits while PostgreSQL cannot be reached, because the next attempt would call the webhook
   * again.
   */
  async function record(
    pending: PendingWebhook,
    result: WebhookResult,
    options: AdvanceOptions,
  ): Promise<AdvanceOutcome> {
    const until = performance.now() + RECORD_MS;
    for (;;) {
      try {
        return await engine.finishWebhook(pending, result, options);
      } catch (error) {
        if (!isDatabaseUnavailable(error) || performance.now() > until) throw error;
        await sleep(RECORD_PAUSE_MS);
      }
    }
  }

  return {
    /** Runs the steps of an execution until it waits, must call a webhook, or ends. Safe to run twice. */
    runSteps({ executionId, asOfMs }: AdvanceInput): Promise<AdvanceOutcome> {
      return withHeartbeat(deps, () => engine.advance(executionId, advanceOptions(asOfMs)));
    },

    /**
     * Calls the webhook that the execution has reached, and advances. If the answer cannot be recorded within a minute,
     * the webhook may be called again, up to ten times in all, with the same `webhook-id`.
     */
    callWebhook({ executionId, asOfMs }: AdvanceInput): Promise<AdvanceOutcome> {
      const options = advanceOptions(asOfMs);
      return withHeartbeat(deps, async () => {
        const pending = await engine.findWebhook(executionId, options);
        if (!pending) return engine.advance(executionId, options);
        return record(pending, await call(pending), options);
      });
    },

    /** Cancels the execution, if that is still possible. */
    async cancelExecution({ executionId }: ExecutionRef): Promise<void> {
      await cancelExecutions(deps.orm.em.fork(), [executionId], 'cancelled');
    },

    /** Ends the execution as FAILED, after an activity on it was given up. */
    async failExecution({ executionId, reason }: FailedExecution): Promise<void> {
      await failExecution(deps.orm.em.fork(), executionId, reason, activityInfo().workflowExecution?.runId);
    },

    /**
     * Whether a workflow that is about to fail goes on instead, because its execution is retried: by a caller, or by a
     * Reset in Temporal.
     */
    async isRetried({ executionId, originalRunId }: EndingRun): Promise<boolean> {
      const id = activityInfo().workflowExecution?.runId ?? originalRunId;
      return reopenInRun(deps.orm.em.fork(), executionId, { id, isReset: id !== originalRunId });
    },
  };
}
