import { EverpostError } from './errors.ts';

/** POST endpoints that take an `Idempotency-Key`: the client makes one, so that they can be repeated. */
export const KEYED_PATHS = ['/v1/send', '/v1/send/batch', '/v1/track', '/contacts/bulk', '/campaigns/{id}/resend'];

/** POST endpoints that only read, or whose repetition changes nothing. */
const REPEATABLE_PATHS = [
  '/v1/verify',
  '/contacts',
  '/contacts/lookup',
  '/contacts/search',
  '/contacts/export',
  '/emails/search',
  '/campaigns/{id}/check',
  '/segments/{id}/members',
  '/suppressions',
  '/suppressions/search',
];

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** After a longer `Retry-After`, the client does not try again. */
const RETRY_AFTER_SECONDS_MAX = 120;

/** Whether a request may be carried out twice. */
export function isRepeatable(method: string, path: string, idempotencyKey: string | undefined): boolean {
  return method !== 'POST' || REPEATABLE_PATHS.includes(path) || (KEYED_PATHS.includes(path) && !!idempotencyKey);
}

/** Whether the request of another try with the same key is still under way. */
function isUnderWay({ code, details }: EverpostError): boolean {
  return code === 'IDEMPOTENCY_KEY_REUSED' && details['originalStatusCode'] === null;
}

/** Whether it is unknown what became of the request, or known that nothing did. */
function isPassing(error: EverpostError): boolean {
  return error.code === 'CONNECTION_FAILED' || [500, 502, 503, 504].includes(error.status) || isUnderWay(error);
}

/**
 * How long to wait before the next try, in milliseconds; undefined when there must be none. After a 429 every request
 * is tried again, because nothing was done.
 * @param tries the number of tries before the failed one
 */
function pauseAfter(error: EverpostError, tries: number, mayRepeat: boolean): number | undefined {
  if (error.status !== 429 && !(mayRepeat && isPassing(error))) return undefined;
  const { retryAfter = 0 } = error;
  if (retryAfter > RETRY_AFTER_SECONDS_MAX) return undefined;
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** tries, PAUSE_MS_MAX);
  // A random part keeps callers that failed together from coming back together.
  return retryAfter * 1000 + pauseMs * (retryAfter > 0 ? Math.random() / 2 : 0.5 + Math.random() / 2);
}

/** @throws the reason of the signal when it is aborted */
async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Whether the request was carried out before: its key is used, or the record that an earlier try deleted is gone.
 * @param isUncertain whether an earlier try may have been carried out
 */
function isDoneBefore(error: EverpostError, { method, path }: RetryRules, isUncertain: boolean): boolean {
  if (error.code !== 'IDEMPOTENCY_KEY_REUSED') return isUncertain && method === 'DELETE' && error.status === 404;
  const { originalRequest, originalStatusCode } = error.details;
  // Another kind of request with the same key says nothing about this one.
  const isOwn = originalRequest === `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
  return isOwn && Number(originalStatusCode ?? 0) > 0;
}

export interface RetryRules {
  method: string;
  /** As in the reference, with its placeholders. */
  path: string;
  mayRepeat: boolean;
  maxRetries: number;
  signal: AbortSignal | undefined;
}

/**
 * Tries until there is an answer, an error that another try would not change, or no try left.
 * @throws EverpostError of the last try, with `isAlreadyDone` when the request was carried out before
 */
export async function withRetries<Answer>(attempt: () => Promise<Answer>, rules: RetryRules): Promise<Answer> {
  let isUncertain = false;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof EverpostError)) throw error;
      error.isAlreadyDone = isDoneBefore(error, rules, isUncertain);
      const pauseMs = tries < rules.maxRetries ? pauseAfter(error, tries, rules.mayRepeat) : undefined;
      if (pauseMs === undefined) throw error;
      isUncertain ||= error.status !== 429;
      await sleep(pauseMs, rules.signal);
    }
  }
}
