import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTES } from '../../shared/platform/search-attributes.ts';
import { type ManagedChild, startChild, waitUntilReady } from '../processes/child-process.ts';
import { projectRoot } from '../../shared/platform/paths.ts';
import type { ProcessGuard } from '../processes/process-guard.ts';

/**
 * JSON values by key. With one partition small queues stay exact, and the limits are beyond what one machine reaches.
 */
const dynamicConfig = {
  'frontend.persistenceMaxQPS': 10_000,
  'history.persistenceMaxQPS': 45_000,
  'frontend.namespaceRPS.visibility': 100,
  'matching.enableFairness': true,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.forceSearchAttributesCacheRefreshOnRead': true,
  'system.namespaceMinRetentionLocal': '"1h"',
};

export interface TemporalServerOptions {
  /** The Temporal CLI. */
  executable: string;
  /** gRPC port on 127.0.0.1. */
  port: number;
  /** Port of the web UI on 127.0.0.1; without it there is none. */
  uiPort?: number | undefined;
  /** SQLite file; without it everything is in memory. */
  databaseFile?: string | undefined;
  /** Server settings in addition to those that are always set; JSON values by key. */
  settings?: Readonly<Record<string, number | boolean | string>> | undefined;
  /** How long closed executions of the namespace `default` are kept, in days. */
  retentionDays: number;
  logFile: string;
  stopRank: number;
  guard: ProcessGuard;
  /** Called as soon as there is a process. */
  onSpawn?: (child: ManagedChild) => void;
}

/**
 * Starts the CLI's development server with the namespace `default` and our search attributes, and waits until it
 * answers. Rejects with the last lines of its log when it does not come up.
 */
export async function startTemporalServer(options: TemporalServerOptions) {
  /** host:port */
  const address = `127.0.0.1:${options.port}`;
  const ui = options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)];
  const child = await startChild({
    name: 'Temporal',
    command: options.executable,
    args: [
      'server',
      'start-dev',
      '--ip',
      '127.0.0.1',
      '--port',
      String(options.port),
      ...ui,
      '--log-level',
      'error',
      '--log-format',
      'text',
      '--color',
      'never',
      ...(options.databaseFile ? ['--db-filename', options.databaseFile] : []),
      // 2.3 times the throughput of SQLite's default journal, and still durable against a crash of the process.
      '--sqlite-pragma',
      'journal_mode=wal',
      '--sqlite-pragma',
      'synchronous=normal',
      ...Object.values(SEARCH_ATTRIBUTES).flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ...Object.entries({ ...dynamicConfig, ...options.settings }).flatMap(([key, value]) => [
        '--dynamic-config-value',
        `${key}=${String(value)}`,
      ]),
    ],
    cwd: projectRoot,
    env: { ...process.env, TEMPORAL_VERSION_CHECK_DISABLED: '1' },
    logFile: options.logFile,
    stopRank: options.stopRank,
    guard: options.guard,
    onSpawn: options.onSpawn,
  });
  try {
    await waitUntilReady(child, 60_000, (signal) => prepareNamespace(address, options.retentionDays, signal));
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { child, address };
}

export type TemporalServer = Awaited<ReturnType<typeof startTemporalServer>>;

async function prepareNamespace(address: string, retentionDays: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1_000 });
      try {
        await connection.withDeadline(Date.now() + 3_000, () =>
          connection.workflowService.updateNamespace({
            namespace: 'default',
            config: { workflowExecutionRetentionTtl: msToTs(`${retentionDays} days`) },
          }),
        );
        return;
      } finally {
        await connection.close();
      }
    } catch {
      await sleep(100);
    }
  }
}
