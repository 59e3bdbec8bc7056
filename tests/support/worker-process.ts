import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../shared/platform/config.ts';
import { testEnvironment } from '../../shared/testing/environment.ts';
import type { TestNamespace } from '../../shared/testing/temporal.ts';

export interface WorkerProcess {
  /** Ends it as a power cut would. */
  kill: () => Promise<void>;
  /** Ends it as an operator would. @returns the exit code */
  terminate: () => Promise<number | null>;
}

const WORKER_MAIN = fileURLToPath(new URL('../../worker/main.ts', import.meta.url));

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

/** Starts a real worker process on the database, namespace and SMTP server of a test. */
export function startWorkerProcess(config: Config, temporal: TestNamespace): WorkerProcess {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', WORKER_MAIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_OPTIONS: '',
      DATABASE_URL: config.DATABASE_URL,
      DATABASE_POOL_SIZE: '10',
      SMTP_URL: config.SMTP_URL.join(','),
      SMTP_CONNECTIONS: String(config.SMTP_CONNECTIONS),
      APP_SECRET: config.APP_SECRET,
      PUBLIC_URL: config.publicUrl,
      TEMPORAL_ADDRESS: testEnvironment().temporalAddress,
      TEMPORAL_NAMESPACE: temporal.namespace,
      WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath,
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: String(config.WEBHOOK_ALLOW_PRIVATE_NETWORKS),
      LOG_LEVEL: 'error',
    },
  });
  return {
    async kill() {
      await end(child, 'SIGKILL');
    },
    terminate: () => end(child, 'SIGTERM'),
  };
}
