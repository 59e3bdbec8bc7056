import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '../../local/processes/free-port.ts';
import { startProcessGuard } from '../../local/processes/process-guard.ts';
import { resolveTemporalCli } from '../../local/temporal/temporal-cli.ts';
import { startTemporalServer, type TemporalServer } from '../../local/temporal/temporal-server.ts';

export interface TemporalProcess {
  /** host:port, the same after every start. */
  readonly address: string;
  /** Starts it with the file of earlier runs, and waits until it answers. */
  start: () => Promise<void>;
  /** Stops it in order, or with SIGKILL like a power cut. */
  stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  /** Stops it and removes its file. */
  remove: () => Promise<void>;
}

/**
 * A Temporal server of a test's own, with its state in a file; not yet started.
 * @param settings its dynamic configuration, for example `limit.historyCount.suggestContinueAsNew`
 */
export async function createTemporalProcess(settings?: Record<string, number>): Promise<TemporalProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), 'everpost-temporal-'));
  const guard = startProcessGuard();
  guard.removeAfterwards(folder);
  const executable = await resolveTemporalCli(() => undefined);
  const port = await findFreePort(0);
  let server: TemporalServer | undefined;

  async function stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (!server) return;
    if (signal === 'SIGKILL') process.kill(server.child.pid, 'SIGKILL');
    await server.child.stop();
    server = undefined;
  }

  return {
    address: `127.0.0.1:${port}`,
    async start() {
      server = await startTemporalServer({
        executable,
        port,
        guard,
        settings,
        stopRank: 1,
        retentionDays: 1,
        databaseFile: path.join(folder, 'temporal.sqlite'),
        logFile: path.join(folder, 'temporal.log'),
      });
    },
    stop,
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
