import { renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { startChild, waitUntilReady } from './processes/child-process.ts';
import { findFreePort } from './processes/free-port.ts';
import { waitForHttp } from './processes/http-ready.ts';
import { type ComponentAddresses, startComponents } from './local-components.ts';
import { prepareFolder, writePrivateFile, writePrivateJson } from './home-files.ts';
import {
  ensureAppSecret,
  ensureLocalProject,
  type LocalFile,
  localFilePath,
  readLocalProject,
} from './local-project.ts';
import { createOperatorCommands } from './operator-command.ts';
import { readVariable, VARIABLES } from '../shared/platform/config.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import { WORKER_FLAGS } from '../shared/platform/worker-flags.ts';
import type { ProcessGuard } from './processes/process-guard.ts';
import type { Progress } from './progress.ts';
import { createSupervisor } from './processes/supervisor.ts';

const READY_MS = 120_000;
const preferredSubmissionPort = 2587;
const logBytesMax = 10 * 1024 * 1024;
const logNames = ['postgres', 'temporal', 'mailbox', 'api', 'worker'];

export interface LocalStackOptions {
  home: string;
  env: NodeJS.ProcessEnv;
  guard: ProcessGuard;
  progress: Progress;
  onChildStarted: (pid: number, args: readonly string[]) => void;
}

export interface LocalStack {
  /**
   * Starts everything; resolves when the API is ready and the worker has been started. Where Temporal has to be fetched
   * first, it and the worker follow later, and `progress` says when.
   */
  start(): Promise<{ file: LocalFile; isTemporalLater: boolean }>;
  /** Resolves with a description once a part has ended for good without being asked to. */
  readonly failed: Promise<string>;
  /** Stops everything in order; safe at any moment. */
  stop(): Promise<void>;
}

/** The whole of Everpost on one machine: its components, the API and the worker, each a process of its own. */
export function createLocalStack({ home, env, guard, progress, onChildStarted }: LocalStackOptions): LocalStack {
  const supervisor = createSupervisor(progress, onChildStarted);
  const runtimeFile = path.join(home, 'runtime.json');
  const stopping = new AbortController();
  let fail: (reason: string) => void = () => undefined;
  const failedLater = new Promise<string>((resolve) => (fail = resolve));

  async function start(): Promise<{ file: LocalFile; isTemporalLater: boolean }> {
    // Damaged files are reported before anything is started.
    const known = readLocalProject(home);
    const appSecret = ensureAppSecret(home, env);
    prepareFolder(path.join(home, 'logs'));
    for (const name of logNames) rotateLog(path.join(home, 'logs', `${name}.log`));
    const host = env['HOST'] || '127.0.0.1';
    const apiPort = await findFreePort(readVariable('PORT', env), host);
    const apiUrl = `http://${hostInUrl(host)}:${apiPort}`;
    const submissionPort = await findFreePort(readVariable('SUBMISSION_PORT', env) ?? preferredSubmissionPort, host);

    const addresses = await startComponents({
      home,
      env,
      guard,
      progress,
      signal: stopping.signal,
      start: supervisor.start,
    });
    stopping.signal.throwIfAborted();
    const childEnv = {
      ...environmentOfChildren(home, env, addresses),
      APP_SECRET: appSecret,
      HOST: host,
      PORT: String(apiPort),
      SUBMISSION_PORT: String(submissionPort),
      PUBLIC_URL: env['PUBLIC_URL'] || apiUrl,
    };
    // Operator commands read this file to reach the same stack, with the same settings.
    const { temporalAddress, temporalLater } = addresses;
    writePrivateJson(runtimeFile, { temporalAddress, variables: settingsIn(childEnv) });
    guard.removeAfterwards(runtimeFile);

    progress('Starting the API and the worker, which bring the database schema up to date');
    const run = createOperatorCommands(childEnv, stopping.signal);
    const metrics = await metricsPorts(env, progress);
    const startProcess = (name: 'api' | 'worker') =>
      supervisor.start(name, async (onSpawn) => ({
        child: await startChild({
          name,
          command: process.execPath,
          args: [...(name === 'worker' ? WORKER_FLAGS : []), path.join(projectRoot, name, 'main.ts')],
          cwd: projectRoot,
          env: { ...childEnv, ...metrics?.[name] },
          logFile: path.join(home, 'logs', `${name}.log`),
          stopRank: 1,
          guard,
          onSpawn,
        }),
      }));
    const isReady = (answer: string) => temporalLater !== undefined && lacksOnlyTemporal(answer);
    const startApi = async () => {
      const { child } = await startProcess('api');
      await waitUntilReady(child, READY_MS, (signal) => waitForHttp(`${apiUrl}/ready`, signal, isReady));
      const [adminHost] = readVariable('ADMIN_HOSTS', env);
      return ensureLocalProject(known, { url: apiUrl, adminHost }, run);
    };
    const startWorker = async () => {
      await run(['temporal', 'setup']);
      return startProcess('worker');
    };
    const startingWorker = (temporalLater ?? Promise.resolve()).then(startWorker);
    if (temporalLater) announce(startingWorker, progress, fail);
    const [project] = await Promise.all([startApi(), temporalLater ? undefined : startingWorker]);
    supervisor.restartFromNowOn();

    const { temporalUiUrl, mailboxUrl } = addresses;
    const file = { apiUrl, docsUrl: `${apiUrl}/docs`, temporalUiUrl, mailboxUrl, submissionPort, ...project };
    writePrivateJson(localFilePath(home), file);
    return { file, isTemporalLater: temporalLater !== undefined };
  }

  async function stop(): Promise<void> {
    stopping.abort();
    await supervisor.stopAll();
    rmSync(runtimeFile, { force: true });
  }

  return { start, failed: Promise.race([supervisor.failed, failedLater]), stop };
}

/** Says when a worker has been started at last, or why that is not possible. */
function announce(startingWorker: Promise<unknown>, progress: Progress, fail: (reason: string) => void): void {
  startingWorker.then(
    () => progress('Temporal is there: what was requested meanwhile is carried out now'),
    (error: unknown) => fail(error instanceof Error ? error.message : String(error)),
  );
}

/** What operator commands need of the environment of the processes. */
function settingsIn(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = new Set([...VARIABLES, 'TEMPORAL_NAMESPACE']);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => names.has(name)));
}

/** Whether an answer of `GET /ready` names no other missing part than Temporal. */
function lacksOnlyTemporal(answer: string): boolean {
  const { checks = {} } = JSON.parse(answer) as { checks?: Record<string, string> };
  return checks['migrations'] === 'ok' && checks['database'] === 'ok';
}

/** A port of its own for the metrics of each process, from METRICS_PORT on; undefined without it. */
async function metricsPorts(env: NodeJS.ProcessEnv, progress: Progress) {
  const wanted = readVariable('METRICS_PORT', env);
  if (wanted === undefined) return undefined;
  const host = readVariable('METRICS_HOST', env);
  const api = await findFreePort(wanted, host);
  const worker = await findFreePort(api + 1, host);
  progress(`Metrics: of the API at ${host}:${api}, of the worker at ${host}:${worker}`);
  return { api: { METRICS_PORT: String(api) }, worker: { METRICS_PORT: String(worker) } };
}

/** How a client on this machine reaches a server that listens on `host`. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Settings for Temporal apply to the local server as well. */
const ownTemporalNames = new Set([
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_CODEC_KEYS',
  'TEMPORAL_CODEC_TOKEN',
  'TEMPORAL_UI_ORIGIN',
]);

/** The user's environment, with the addresses of the components that were started here. */
function environmentOfChildren(home: string, env: NodeJS.ProcessEnv, addresses: ComponentAddresses): NodeJS.ProcessEnv {
  const isOwnTemporal = !env['TEMPORAL_ADDRESS'];
  const profileFile = path.join(home, 'temporal.toml');
  if (isOwnTemporal) writePrivateFile(profileFile, '[profile.default]\n');
  // Credentials and profiles for another Temporal would be presented to the local one.
  const passed = Object.entries(env).filter(
    ([name]) => !isOwnTemporal || !name.startsWith('TEMPORAL_') || ownTemporalNames.has(name),
  );
  return {
    // So that events reach a receiver on the same machine.
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
    ...Object.fromEntries(passed),
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    SMTP_URL: addresses.smtpUrl,
    // Its file may have been removed, or that of the database.
    ...(isOwnTemporal && { TEMPORAL_CONFIG_FILE: profileFile, TEMPORAL_ADOPT: 'true' }),
    ...(addresses.temporalUiUrl !== null && {
      TEMPORAL_UI_URL: `${addresses.temporalUiUrl}/namespaces/${env['TEMPORAL_NAMESPACE'] ?? 'default'}`,
    }),
  };
}

/** Moves a log of more than 10 MB aside at a start, so that logs do not grow from start to start. */
function rotateLog(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) renameSync(file, `${file}.1`);
}
