import type { Express } from 'express';
import { withTimeLimit } from '../../shared/platform/time-limit.ts';

/** What readiness depends on. Each resolves, or rejects with the reason. */
export type HealthChecks = Record<string, () => Promise<void>>;

const CHECK_TIMEOUT_MS = 3_000;
const KEPT_MS = 2_000;

async function passes(check: () => Promise<void>): Promise<boolean> {
  const checked = check().then(
    () => true,
    () => false,
  );
  return withTimeLimit(checked, CHECK_TIMEOUT_MS, () => false);
}

type Readiness = Record<string, 'ok' | 'failed'>;

function isReady(readiness: Readiness): boolean {
  return Object.values(readiness).every((result) => result === 'ok');
}

/** Checks what the process needs. Anybody may ask, so one check runs at a time, and a good result is kept for `KEPT_MS`. */
function createReadiness(checks: HealthChecks): () => Promise<Readiness> {
  let current: Promise<Readiness> | undefined;

  async function run(): Promise<Readiness> {
    const results = Object.entries(checks).map(async ([name, check]) => [
      name,
      (await passes(check)) ? 'ok' : 'failed',
    ]);
    const readiness = Object.fromEntries(await Promise.all(results)) as Readiness;
    const forget = () => (current = undefined);
    if (isReady(readiness)) setTimeout(forget, KEPT_MS).unref();
    else forget();
    return readiness;
  }
  return () => (current ??= run());
}

function mountLife(app: Express): void {
  app.get('/health', (_req, res) => {
    res.json({ status: 'ok' });
  });
}

/** As `mountHealth`, for a process that cannot serve before its database is there. */
export function mountWaitingHealth(app: Express, reason: string): void {
  mountLife(app);
  app.get('/ready', (_req, res) => {
    res.status(503).json({ status: 'not ready', checks: { database: 'failed' }, reason });
  });
}

/** `GET /health`: the process lives. `GET /ready`: what it needs answers; 503 names what does not. */
export function mountHealth(app: Express, checks: HealthChecks): void {
  mountLife(app);
  const readiness = createReadiness(checks);
  app.get('/ready', async (_req, res) => {
    const results = await readiness();
    const status = isReady(results) ? 200 : 503;
    res.status(status).json({ status: status === 200 ? 'ready' : 'not ready', checks: results });
  });
}
