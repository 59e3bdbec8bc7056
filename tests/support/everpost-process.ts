import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../shared/platform/config.ts';
import type { TestNamespace } from './temporal.ts';

/** The module that a process loads with `--import` so that `ask` works. */
export const LOOP_WATCH = fileURLToPath(new URL('loop-watch-main.ts', import.meta.url));
const QUICK_WORKFLOWS = fileURLToPath(new URL('quick-workflows.ts', import.meta.url));

/** A real process of Everpost. */
export interface EverpostProcess {
  /** Lets a spare process (`spare-main.ts`) run its program. */
  begin: () => void;
  /** Ends it as a power cut would. */
  kill: () => Promise<void>;
  /** Ends it as an operator would. @returns the exit code */
  terminate: () => Promise<number | null>;
  isRunning: () => boolean;
  /** Suspends it, with its connections open. */
  freeze: () => void;
  /** Continues a suspended process. */
  thaw: () => void;
  /** Asks `loop-watch-main.ts`, which must be loaded into the process. */
  ask: (request: 'report' | 'throw' | 'reject') => Promise<LoopReport>;
  /** Resolves with the exit code, null after a signal. */
  exited: Promise<number | null>;
  /** What it has logged and said so far. */
  output: () => string;
}

/** The report of a process about the time since the last one. */
export interface LoopReport {
  /** The longest CPU time of the main thread in one turn of its event loop. */
  longestTurnMs: number;
  rssBytes: number;
}

/**
 * Starts a process on the database, namespace and SMTP server of a test. `environment` overrides its variables. To take
 * less CPU to start, it has no docs, unless `DOCS` is `true`, and its workflows run in the main thread instead of one of
 * their own, unless `TEMPORAL_DEBUG` is undefined.
 */
export function startEverpostProcess(
  name: 'api' | 'worker',
  config: Config,
  temporal: Pick<TestNamespace, 'connectionOptions' | 'namespace'>,
  environment: NodeJS.ProcessEnv = {},
  nodeArguments: string[] = [],
): EverpostProcess {
  const main = fileURLToPath(new URL(`../../${name}/main.ts`, import.meta.url));
  const quick = name === 'worker' && !('TEMPORAL_DEBUG' in environment) ? ['--import', QUICK_WORKFLOWS] : [];
  // From a smaller space for new objects, V8 copies much while the modules load.
  const node = ['--disable-warning=ExperimentalWarning', '--min-semi-space-size=16'];
  const child = spawn(process.execPath, [...node, ...quick, ...nodeArguments, main], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      NODE_OPTIONS: '',
      DATABASE_URL: config.DATABASE_URL,
      DATABASE_POOL_SIZE: '10',
      SMTP_URL: config.SMTP_URL.join(','),
      SMTP_CONNECTIONS: String(config.SMTP_CONNECTIONS),
      RESULTS_FOLDER: config.RESULTS_FOLDER,
      APP_SECRET: config.APP_SECRET,
      PUBLIC_URL: config.publicUrl,
      API_RATE_LIMIT_PER_MINUTE: String(config.API_RATE_LIMIT_PER_MINUTE),
      API_CONNECTIONS_MAX: String(config.API_CONNECTIONS_MAX),
      API_KEYLESS_RATE_PER_SECOND: String(config.API_KEYLESS_RATE_PER_SECOND),
      API_PROXY_SOURCES: config.API_PROXY_SOURCES.join(','),
      TEMPORAL_ADDRESS: temporal.connectionOptions.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      DNS_SERVERS: config.DNS_SERVERS.join(','),
      WEBHOOK_ALLOWED_NETWORKS: config.WEBHOOK_ALLOWED_NETWORKS.join(','),
      LOG_LEVEL: 'error',
      DOCS: 'false',
      TEMPORAL_DEBUG: '1',
      ...environment,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  if (environment['LOG_LEVEL'] === undefined) child.stderr?.pipe(process.stderr, { end: false });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const isRunning = () => child.exitCode === null && child.signalCode === null;

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (!isRunning()) return child.exitCode;
    child.kill(signal);
    return exited;
  }

  return {
    begin: () => void child.send('begin'),
    async kill() {
      await end('SIGKILL');
    },
    terminate: () => end('SIGTERM'),
    isRunning,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async ask(request) {
      const answered = once(child, 'message') as Promise<[LoopReport]>;
      child.send(request);
      const [report] = await answered;
      return report;
    },
    exited,
    output: () => output,
  };
}
