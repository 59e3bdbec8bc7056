import { activityInfo, sleep } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { cancelExecutions } from '../../shared/domain/automations/cancel-executions.ts';
import { failExecution } from '../../shared/domain/automations/fail-execution.ts';
import {
  createExecutionEngine,
  type PendingWebhook,
  type AdvanceOptions,
  type WebhookResult,
} from '../../shared/domain/automations/execution-engine.ts';
import { permanentReason } from '../../shared/domain/automations/step-error.ts';
import { prepareWebhook } from '../../shared/domain/automations/webhook-step.ts';
import { isDatabaseUnavailable } from '../../shared/domain/database/database-errors.ts';
import { createWebhookSecrets } from '../../shared/domain/projects/webhook-secrets.ts';
import { createMailCompiler } from '../../shared/platform/mail/mail-content.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import {
  WebhookRefusedError,
  WebhookUnreachableError,
  createWebhookClient,
  type WebhookAnswer,
} from '../../shared/platform/webhook/webhook-client.ts';
import type { AdvanceOutcome } from '../../shared/pure/workflow-contracts.ts';
import { attemptMemory, remember } from '../attempt.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

export interface ExecutionRef {
  executionId: string;
}

export interface FailedExecution extends ExecutionRef {
  /** For those who look at the execution. */
  reason: string;
}

export interface AdvanceInput extends ExecutionRef {
  /** The workflow's clock, milliseconds since 1970. */
  asOfMs: number;
}

/** With pauses that grow from a second to an hour, about two hours. */
const WEBHOOK_CALLS_MAX = 10;
/** An attempt has two minutes, of which the call takes a few seconds. */
const RECORD_MS = 60_000;
const RECORD_PAUSE_MS = 1_000;
const RETRY_AFTER_MS_MAX = 60 * 60 * 1_000;
/** Emails of executions that advance at the same time are delivered together. */
const WAKE_WITHIN_MS = 100;
const TOO_MANY_REQUESTS = 429;

/** Activities of the workflow `automationExecution`. */
export function createAutomationActivities(deps: ActivityDeps) {
  const engine = createExecutionEngine({
    em: () => deps.orm.em.fork(),
    links: deps.links,
    compileMail: createMailCompiler(),
    messageBytesMax: deps.config.MESSAGE_MAX_BYTES,
  });
  const webhookSecrets = createWebhookSecrets(appSecretsOf(deps.config));
  const webhooks = createWebhookClient({
    allowPrivateNetworks: deps.config.WEBHOOK_ALLOW_PRIVATE_NETWORKS,
    dnsServers: deps.config.DNS_SERVERS,
  });

  /** The workflow's clock goes on while an activity works and while it is repeated. */
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

  async function advance(executionId: string, options: AdvanceOptions): Promise<AdvanceOutcome> {
    try {
      return await engine.advance(executionId, options);
    } finally {
      deps.wakeDispatcher(WAKE_WITHIN_MS);
    }
  }

  async function call(pending: PendingWebhook): Promise<WebhookResult> {
    const { visit } = pending.state;
    const before = attemptMemory().webhook;
    let calls = before?.visit === visit ? before.calls : 0;
    if (calls >= WEBHOOK_CALLS_MAX) {
      return { output: { attempts: calls }, fault: `it was called ${calls} times and no answer could be recorded` };
    }
    try {
      const request = await prepareWebhook(deps.orm.em.fork(), pending, { links: deps.links, webhookSecrets });
      // Attempts that end before the call, as while PostgreSQL is away, do not count.
      calls += 1;
      remember({ webhook: { visit, calls } });
      return resultOf(await webhooks.send(request), calls);
    } catch (error) {
      const fault = error instanceof WebhookRefusedError ? error.message : permanentReason(error);
      if (fault !== undefined) return { output: { attempts: calls }, fault };
      if (!(error instanceof WebhookUnreachableError)) throw error;
      if (calls < WEBHOOK_CALLS_MAX) throw retryFailure(error.message, null);
      return {
        output: { attempts: calls },
        fault: `the server could not be reached ${calls} times: ${error.message}`,
      };
    }
  }

  /** Records the answer, also when PostgreSQL is away for a while: the next attempt would have to call again. */
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
    /** Does the steps of an execution until it has to wait, to call a webhook, or ends. Safe to run twice. */
    runSteps({ executionId, asOfMs }: AdvanceInput): Promise<AdvanceOutcome> {
      return withHeartbeat(deps, () => advance(executionId, advanceOptions(asOfMs)));
    },

    /**
     * Calls the webhook the execution has come to, and advances. A receiver may be called again, up to ten times, when its
     * answer could not be recorded within a minute; it sees the same `webhook-id` then.
     */
    callWebhook({ executionId, asOfMs }: AdvanceInput): Promise<AdvanceOutcome> {
      const options = advanceOptions(asOfMs);
      return withHeartbeat(deps, async () => {
        const pending = await engine.findWebhook(executionId, options);
        if (!pending) return advance(executionId, options);
        const result = await call(pending);
        try {
          return await record(pending, result, options);
        } finally {
          deps.wakeDispatcher(WAKE_WITHIN_MS);
        }
      });
    },

    /** Cancels the execution, where that is still possible. */
    async cancelExecution({ executionId }: ExecutionRef): Promise<void> {
      await cancelExecutions(deps.orm.em.fork(), [executionId], 'cancelled');
    },

    /** Ends the execution as FAILED, where an activity that works on it was given up. */
    async failExecution({ executionId, reason }: FailedExecution): Promise<void> {
      await failExecution(deps.orm.em.fork(), executionId, reason);
    },
  };
}

function retryFailure(message: string, retryAfterMs: number | null): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'WebhookUnavailable',
    message: `The webhook could not be delivered: ${message}. It is tried again; the pauses grow up to an hour.`,
    category: 'BENIGN',
    ...(retryAfterMs !== null && { nextRetryDelay: Math.min(retryAfterMs, RETRY_AFTER_MS_MAX) }),
  });
}

/** @throws ApplicationFailure to be called again */
function resultOf(answer: WebhookAnswer, calls: number): WebhookResult {
  const { statusCode, url, contentType, body, isTruncated, retryAfterMs } = answer;
  const output = { statusCode, url, contentType, body, isTruncated, attempts: calls };
  if (statusCode < 300) return { output, fault: null };
  if (statusCode !== TOO_MANY_REQUESTS && statusCode < 500)
    return { output, fault: `the server answered ${statusCode}` };
  if (calls < WEBHOOK_CALLS_MAX) throw retryFailure(`the server answered ${statusCode}`, retryAfterMs);
  return { output, fault: `the server answered ${statusCode}, ${calls} times in all` };
}
