import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { cancelExecutions } from '../../shared/domain/automations/cancel-executions.ts';
import { failExecution } from '../../shared/domain/automations/fail-execution.ts';
import {
  createWalker,
  type PendingWebhook,
  type WalkOptions,
  type WebhookResult,
} from '../../shared/domain/automations/walk.ts';
import { permanentReason } from '../../shared/domain/automations/step-fault.ts';
import { prepareWebhook } from '../../shared/domain/automations/webhook-step.ts';
import { createWebhookSecrets } from '../../shared/domain/projects/webhook-secrets.ts';
import { createMailCompiler } from '../../shared/platform/mail/mail-content.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import {
  WebhookRefusedError,
  WebhookUnreachableError,
  createWebhookClient,
  type WebhookAnswer,
} from '../../shared/platform/webhook/webhook-client.ts';
import type { WalkOutcome } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

export interface ExecutionRef {
  executionId: string;
}

export interface FailedExecution extends ExecutionRef {
  /** For those who look at the execution. */
  reason: string;
}

export interface WalkInput extends ExecutionRef {
  /** The workflow's clock, milliseconds since 1970. */
  asOfMs: number;
}

/** With pauses that grow from a second to an hour, about two hours. */
const WEBHOOK_ATTEMPTS_MAX = 10;
const RETRY_AFTER_MS_MAX = 60 * 60 * 1_000;
/** Mail of executions that walk at the same time is delivered together. */
const WAKE_WITHIN_MS = 100;
const TOO_MANY_REQUESTS = 429;

/** Activities of the workflow `automationExecution`. */
export function createAutomationActivities(deps: ActivityDeps) {
  const walker = createWalker({
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
  function walkOptions(asOfMs: number): WalkOptions {
    const info = activityInfo();
    const beganAt = performance.now();
    const attemptMs = asOfMs + info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
    return {
      now: () => new Date(attemptMs + performance.now() - beganAt),
      runId: info.workflowExecution?.runId ?? null,
      isRepetition: info.attempt > 1,
    };
  }

  async function walk(executionId: string, options: WalkOptions): Promise<WalkOutcome> {
    try {
      return await walker.walk(executionId, options);
    } finally {
      deps.wakeDispatcher(WAKE_WITHIN_MS);
    }
  }

  async function call(pending: PendingWebhook): Promise<WebhookResult> {
    const { attempt } = activityInfo();
    try {
      const answer = await webhooks.send(
        await prepareWebhook(deps.orm.em.fork(), pending, { links: deps.links, webhookSecrets }),
      );
      return resultOf(answer, attempt);
    } catch (error) {
      const fault = error instanceof WebhookRefusedError ? error.message : permanentReason(error);
      if (fault !== undefined) return { output: { attempts: attempt }, fault };
      if (!(error instanceof WebhookUnreachableError)) throw error;
      if (attempt < WEBHOOK_ATTEMPTS_MAX) throw retryFailure(error.message, null);
      return {
        output: { attempts: attempt },
        fault: `the server could not be reached ${attempt} times: ${error.message}`,
      };
    }
  }

  return {
    /** Does the steps of an execution until it has to wait, to call a webhook, or ends. Safe to run twice. */
    runSteps({ executionId, asOfMs }: WalkInput): Promise<WalkOutcome> {
      return withHeartbeat(deps, () => walk(executionId, walkOptions(asOfMs)));
    },

    /**
     * Calls the webhook the execution has come to, and walks on. A receiver may be called twice, when its answer could
     * not be recorded; it sees the same `webhook-id` then.
     */
    callWebhook({ executionId, asOfMs }: WalkInput): Promise<WalkOutcome> {
      const options = walkOptions(asOfMs);
      return withHeartbeat(deps, async () => {
        const pending = await walker.findWebhook(executionId, options);
        if (!pending) return walk(executionId, options);
        const result = await call(pending);
        try {
          return await walker.finishWebhook(pending, result, options);
        } finally {
          deps.wakeDispatcher(WAKE_WITHIN_MS);
        }
      });
    },

    /** Cancels the execution, where that is still possible. */
    async cancelExecution({ executionId }: ExecutionRef): Promise<void> {
      await cancelExecutions(deps.orm.em.fork(), { executionIds: [executionId] }, 'cancelled');
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
function resultOf(answer: WebhookAnswer, attempt: number): WebhookResult {
  const { statusCode, url, contentType, body, isTruncated, retryAfterMs } = answer;
  const output = { statusCode, url, contentType, body, isTruncated, attempts: attempt };
  if (statusCode < 300) return { output, fault: null };
  if (statusCode !== TOO_MANY_REQUESTS && statusCode < 500)
    return { output, fault: `the server answered ${statusCode}` };
  if (attempt < WEBHOOK_ATTEMPTS_MAX) throw retryFailure(`the server answered ${statusCode}`, retryAfterMs);
  return { output, fault: `the server answered ${statusCode}, ${attempt} times in all` };
}
