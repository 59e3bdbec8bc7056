import {
  WebhookRefusedError,
  WebhookUnreachableError,
  type WebhookAnswer,
} from '../../shared/platform/webhook/webhook-client.ts';
import type { HookMessage } from './hook-message.ts';

/** An endpoint's answer to a message. */
export interface HookAnswer {
  message: HookMessage;
  isAccepted: boolean;
  /** The endpoint is gone for good. */
  isGone: boolean;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  /** The pause that the endpoint asks for, in milliseconds. */
  retryAfterMs: number | null;
}

export interface LaneOptions {
  send: (message: HookMessage) => Promise<WebhookAnswer>;
  /** Concurrent requests. */
  parallel: number;
  /** Whether no further request may start; requests under way are completed. */
  isOver: () => boolean;
}

/** After this many failures in a row the endpoint is considered down. */
const DOWN_AFTER = 5;
const GONE = 410;
const TOO_MANY_REQUESTS = 429;

/**
 * Sends a message to an endpoint.
 * @throws errors that are no fault of the endpoint
 */
async function callEndpoint(message: HookMessage, send: LaneOptions['send']): Promise<HookAnswer> {
  const startedAt = performance.now();
  const base = { message, isAccepted: false, isGone: false, statusCode: null, retryAfterMs: null };
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const { statusCode, retryAfterMs } = await send(message);
    const isAccepted = statusCode >= 200 && statusCode < 300;
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const error = isAccepted
      ? null
      : `the server answered ${statusCode}${isRedirect ? ', and redirects are not followed' : ''}`;
    const isGone = statusCode === GONE;
    const asks = statusCode === TOO_MANY_REQUESTS || statusCode >= 500 ? retryAfterMs : null;
    return { ...base, isAccepted, isGone, statusCode, error, durationMs: durationMs(), retryAfterMs: asks };
  } catch (error) {
    if (!(error instanceof WebhookRefusedError) && !(error instanceof WebhookUnreachableError)) throw error;
    return { ...base, error: error.message, durationMs: durationMs() };
  }
}

/**
 * Sends messages, each lane in its order and several lanes at a time. A lane ends at its first failure. All lanes end
 * when the endpoint seems to be down.
 * @returns the answers; messages that were not sent have none
 */
export async function sendLanes(
  lanes: readonly (readonly HookMessage[])[],
  { send, parallel, isOver }: LaneOptions,
): Promise<HookAnswer[]> {
  const answers: HookAnswer[] = [];
  let [failedInARow, next] = [0, 0];
  const isDone = (): boolean => isOver() || failedInARow >= DOWN_AFTER;

  async function walk(): Promise<void> {
    for (let lane = lanes[next++]; lane && !isDone(); lane = lanes[next++]) {
      for (const message of lane) {
        if (isDone()) return;
        const answer = await callEndpoint(message, send);
        answers.push(answer);
        failedInARow = answer.isAccepted ? 0 : failedInARow + 1;
        if (!answer.isAccepted) break;
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, lanes.length) }, walk));
  return answers;
}
