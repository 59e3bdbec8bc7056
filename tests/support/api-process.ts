import { findFreePort } from '../../local/processes/free-port.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { TestNamespace } from './temporal.ts';
import { startEverpostProcess, type EverpostProcess } from './everpost-process.ts';

export interface ApiProcess {
  /** Its URL after every start, without a slash at the end. */
  readonly url: string;
  /** Starts it, on the same port every time. Requests are refused until it is up. */
  start: () => void;
  kill: () => Promise<void>;
  isRunning: () => boolean;
  ask: EverpostProcess['ask'];
  exited: () => Promise<number | null>;
}

/** A real API process on the database and namespace of a test, not yet started. */
export async function createApiProcess(
  config: Config,
  temporal: Pick<TestNamespace, 'connectionOptions' | 'namespace'>,
  nodeArguments: string[] = [],
  variables: NodeJS.ProcessEnv = {},
): Promise<ApiProcess> {
  const port = await findFreePort(0);
  let running: EverpostProcess | undefined;
  function current(): EverpostProcess {
    if (!running) throw new Error('the API has not been started');
    return running;
  }
  return {
    url: `http://127.0.0.1:${port}`,
    start() {
      if (running) throw new Error('the API has been started already');
      const environment = { HOST: '127.0.0.1', PORT: String(port), ...variables };
      running = startEverpostProcess('api', config, temporal, environment, nodeArguments);
    },
    async kill() {
      await running?.kill();
      running = undefined;
    },
    isRunning: () => running?.isRunning() ?? false,
    ask: (request) => current().ask(request),
    exited: () => current().exited,
  };
}
