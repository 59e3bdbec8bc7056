import type { Express } from 'express';
import { withTimeLimit } from '../../shared/platform/time-limit.ts';

/** The checks of what the process needs. Each resolves, or rejects with the reason. */
export type HealthChecks = Record<string, () => Promise<void>>;

const CHECK_TIMEOUT_MS = 3_000;
/** How long a good result is kept. */
const KEPT_MS = 2_000;

/** Whether a check succeeds in time. */
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

/** Creates a function that runs the checks. Anybody may ask, so one run is shared, and a good result is kept. */
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

function mountLiveness(app: Express): void {
  app.get('/health', (_req, res) => {
    res.json({ status: 'ok' });
  });
}

/** As `mountHealth`, for a process that waits for its database. */
export function mountWaitingHealth(app: Express, reason: string): void {
  mountLiveness(app);
  app.get('/ready', (_req, res) => {
    res.status(503).json({ status: 'not ready', checks: { database: 'failed' }, reason });
  });
}

/** Mounts `GET /health` (the process runs) and `GET /ready` (all checks succeed; a 503 names those that do not). */
export function mountHealth(app: Express, checks: HealthChecks): void {
  mountLiveness(app);
  const readiness = createReadiness(checks);
  app.get('/ready', async (_req, res) => {
    const results = await readiness();
    const status = isReady(results) ? 200 : 503;
    res.status(status).json({ status: status === 200 ? 'ready' : 'not ready', checks: results });
  });
}
