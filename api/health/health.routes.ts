import type { Express } from 'express';

/** What readiness depends on. Each resolves, or rejects with the reason. */
export type HealthChecks = Record<string, () => Promise<void>>;

const CHECK_TIMEOUT_MS = 3_000;

async function passes(check: () => Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, false);
  });
  const checked = check().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([checked, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** `GET /health`: the process lives. `GET /ready`: what it needs answers; 503 names what does not. */
export function mountHealth(app: Express, checks: HealthChecks): void {
  app.get('/health', (_req, res) => {
    res.json({ status: 'ok' });
  });
  app.get('/ready', async (_req, res) => {
    const names = Object.keys(checks);
    const results = await Promise.all(Object.values(checks).map(passes));
    const isReady = results.every(Boolean);
    res.status(isReady ? 200 : 503).json({
      status: isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(names.map((name, index) => [name, results[index] ? 'ok' : 'failed'])),
    });
  });
}
