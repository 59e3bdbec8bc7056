import { findFreePort } from '../../local/free-port.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { TestNamespace } from '../../shared/testing/temporal.ts';
import { startEverpostProcess, type EverpostProcess } from './everpost-process.ts';

export interface ApiProcess {
  /** Where it listens whenever it runs, without a slash at the end. */
  readonly url: string;
  /** Starts it, on the same port every time. Requests are refused until it is up. */
  start: () => void;
  kill: () => Promise<void>;
  isRunning: () => boolean;
}

/** A real API process on the database and namespace of a test, not yet started. Its dispatcher runs with it. */
export async function createApiProcess(
  config: Config,
  temporal: Pick<TestNamespace, 'connectionOptions' | 'namespace'>,
): Promise<ApiProcess> {
  const port = await findFreePort(0);
  let running: EverpostProcess | undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    start() {
      if (running) throw new Error('the API has been started already');
      running = startEverpostProcess('api', config, temporal, { HOST: '127.0.0.1', PORT: String(port) });
    },
    async kill() {
      await running?.kill();
      running = undefined;
    },
    isRunning: () => running?.isRunning() ?? false,
  };
}
