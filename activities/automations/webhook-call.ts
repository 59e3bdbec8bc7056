import { ApplicationFailure } from '@temporalio/common';
import type { PendingWebhook, WebhookResult } from '../../shared/domain/automations/execution-engine.ts';
import { permanentReason } from '../../shared/domain/automations/step-error.ts';
import { prepareWebhook } from '../../shared/domain/automations/webhook-step.ts';
import { createWebhookSecrets } from '../../shared/domain/projects/webhook-secrets.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import {
  WebhookRefusedError,
  WebhookUnreachableError,
  createWebhookClient,
  webhookClientOptions,
  type WebhookAnswer,
} from '../../shared/platform/webhook/webhook-client.ts';
import { redactText } from '../../shared/pure/redact.ts';
import { keptValue } from '../../shared/durable/attempts/attempt.ts';
import type { ActivityDeps } from '../deps.ts';

/** Calls of the webhook of one step. With pauses that grow from a second to an hour they take about two hours. */
const WEBHOOK_CALLS_MAX = 10;
const RETRY_AFTER_MS_MAX = 60 * 60 * 1_000;
const TOO_MANY_REQUESTS = 429;
/** How often the webhook of a step was called. */
const keptCalls = keptValue<{ stepNumber: number; calls: number }>('webhook');

/**
 * Creates the function that calls the webhook of a step once. The calls of earlier attempts count.
 * @throws ApplicationFailure `WebhookUnavailable` for another attempt
 */
export function createWebhookCall(deps: ActivityDeps): (pending: PendingWebhook) => Promise<WebhookResult> {
  const webhookSecrets = createWebhookSecrets(appSecretsOf(deps.config));
  const webhooks = createWebhookClient(webhookClientOptions(deps.config));
  return async (pending) => {
    const { stepNumber } = pending.state;
    const before = keptCalls.get();
    let calls = before?.stepNumber === stepNumber ? before.calls : 0;
    if (calls >= WEBHOOK_CALLS_MAX) {
      return { output: { attempts: calls }, fault: `it was called ${calls} times and no answer could be recorded` };
    }
    try {
      const request = await prepareWebhook(deps.orm.em.fork(), pending, { links: deps.links, webhookSecrets });
      // Attempts that end before the call, for example while PostgreSQL is away, do not count.
      calls += 1;
      keptCalls.set({ stepNumber, calls });
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

/** How much of an answer an error quotes. The output of the step has all of it. */
const QUOTED_LENGTH_MAX = 200;

/** What a server said in an answer that refuses, for the error of the step: ` (<the beginning of its body>)`. */
function quoted(body: string): string {
  const text = redactText(body.trim()).replaceAll(/\s+/g, ' ').toWellFormed();
  if (text === '') return '';
  return ` (${text.length > QUOTED_LENGTH_MAX ? `${text.slice(0, QUOTED_LENGTH_MAX).toWellFormed()}…` : text})`;
}

/**
 * Reads the answer of a webhook.
 * @throws ApplicationFailure `WebhookUnavailable` for another attempt
 */
function resultOf(answer: WebhookAnswer, calls: number): WebhookResult {
  const { statusCode, url, contentType, body, isTruncated, retryAfterMs } = answer;
  const output = { statusCode, url, contentType, body, isTruncated, attempts: calls };
  if (statusCode < 300) return { output, fault: null };
  if (statusCode !== TOO_MANY_REQUESTS && statusCode < 500)
    return { output, fault: `the server answered ${statusCode}${quoted(body)}` };
  if (calls < WEBHOOK_CALLS_MAX) throw retryFailure(`the server answered ${statusCode}`, retryAfterMs);
  return { output, fault: `the server answered ${statusCode}${quoted(body)}, ${calls} times in all` };
}
