import { setTimeout as delay } from 'node:timers/promises';
import { reservationSize, reserveSendBudget } from '../../shared/domain/emails/send-budget.ts';
import type { Em } from '../../shared/domain/orm.ts';

/** The sending speed of a project. */
export interface Throttle {
  em: () => Em;
  projectId: string;
  ratePerSecond: number;
}

export interface SendThrottleOptions {
  throttle?: Throttle;
  /** Messages at most, so that none of a slow project's budget is reserved for messages that do not exist. */
  mailCount: number;
  signal: AbortSignal;
  isStopped: () => boolean;
}

/**
 * Reserves the right to send, several messages at once; one caller after another, in the order of their messages.
 * @returns undefined when the project is not throttled
 */
export function createSendThrottle(options: SendThrottleOptions): (() => Promise<void>) | undefined {
  const { throttle, mailCount, signal, isStopped } = options;
  if (!throttle) return undefined;
  const { em, projectId, ratePerSecond } = throttle;
  let reserved = 0;
  let budgeted = 0;
  let turn = Promise.resolve();

  async function take(): Promise<void> {
    if (isStopped()) return;
    if (reserved > 0) {
      reserved--;
      return;
    }
    const count = Math.max(1, Math.min(reservationSize(ratePerSecond), mailCount - budgeted));
    budgeted += count;
    const waitMs = await reserveSendBudget(em(), projectId, count, ratePerSecond);
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    reserved = count - 1;
  }

  return () => {
    const mine = turn.then(take);
    turn = mine.catch(() => undefined);
    return mine;
  };
}
