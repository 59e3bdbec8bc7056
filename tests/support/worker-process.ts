import type { Config } from '../../shared/platform/config.ts';
import { testEnvironment } from './environment.ts';
import type { TestNamespace } from './temporal.ts';
import { startEverpostProcess, type EverpostProcess } from './everpost-process.ts';

export type WorkerProcess = EverpostProcess;

/** Starts a real worker process on the database, namespace and SMTP server of a test. */
export function startWorkerProcess(
  config: Config,
  temporal: TestNamespace,
  nodeArguments: string[] = [],
): WorkerProcess {
  const environment = { WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath };
  return startEverpostProcess('worker', config, temporal, environment, nodeArguments);
}
