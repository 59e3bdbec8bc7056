import { setTimeout as delay } from 'node:timers/promises';
import { badRequest } from '../../shared/pure/app-error.ts';
import { retryAfterMs } from '../../shared/platform/retry-after.ts';
import type { Get } from '../../shared/pure/moving/moved.ts';

const ATTEMPTS_MAX = 8;
const TIMEOUT_MS = 60_000;
const PAUSE_MS = { first: 500, longest: 600_000 } as const;

/** What became of one request; a fault that may pass is tried again. */
type Tried = { body: unknown } | { fault: string; waitMs: number | null };

/** How long a server asks to wait: by Retry-After, or by the moment of SendGrid's limit. Null when it does not say so. */
function waitMsOf(headers: Headers): number | null {
  const resetAt = Number(headers.get('x-ratelimit-reset') ?? NaN) * 1_000;
  return retryAfterMs(headers.get('retry-after')) ?? (Number.isNaN(resetAt) ? null : Math.max(0, resetAt - Date.now()));
}

/** What is behind "fetch failed", such as a name that DNS does not know. */
function causeOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return '';
  return ` (${cause.message || String((cause as NodeJS.ErrnoException).code)})`;
}

async function attempt(url: string, headers: Record<string, string>): Promise<Tried> {
  try {
    const init = {
      headers: { accept: 'application/json', 'user-agent': 'everpost', ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    };
    // A redirect would show the key to another server.
    const response = await fetch(url, { ...init, redirect: 'manual' });
    const text = await response.text();
    if (response.ok) return { body: JSON.parse(text) as unknown };
    const isPassing = response.status === 429 || response.status >= 500;
    const { status } = response;
    if (!isPassing) throw badRequest(`${url} answered ${status}: ${text.slice(0, 200)}`, { details: { status } });
    return { fault: `the status ${response.status}`, waitMs: waitMsOf(response.headers) };
  } catch (error) {
    if (!(error instanceof Error) || error.name === 'AppError') throw error;
    const fault = error instanceof SyntaxError ? 'an answer that is not JSON' : `${error.message}${causeOf(error)}`;
    return { fault, waitMs: null };
  }
}

/**
 * Creates the function that fetches paths of an API, one after the other. It waits as long as a 429 asks it to, and
 * tries again what may pass.
 */
export function createGet(base: string, headers: Record<string, string>, note: (text: string) => void): Get {
  return async (path) => {
    const url = `${base.replace(/\/+$/, '')}${path}`;
    for (let tries = 1; ; tries++) {
      const tried = await attempt(url, headers);
      if ('body' in tried) return tried.body;
      if (tries === ATTEMPTS_MAX) throw badRequest(`${url}: ${tried.fault}, ${tries} times`);
      const ms = Math.min(tried.waitMs ?? PAUSE_MS.first * 2 ** (tries - 1), PAUSE_MS.longest);
      note(`${url}: ${tried.fault}; trying again in ${Math.ceil(ms / 1_000)} s`);
      await delay(ms);
    }
  };
}
