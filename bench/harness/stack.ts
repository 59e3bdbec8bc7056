import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { findFreePort } from '../../local/processes/free-port.ts';
import { waitForHttp } from '../../local/processes/http-ready.ts';
import { createOperatorCommands, type OperatorCommands } from '../../local/operator-command.ts';
import type { ProcessGuard } from '../../local/processes/process-guard.ts';
import type { Progress } from '../../local/progress.ts';
import { resolveTemporalCli } from '../../local/temporal/temporal-cli.ts';
import { startTemporalServer } from '../../local/temporal/temporal-server.ts';
import { query, sql, type Em } from '../../shared/database/sql.ts';
import { createOrm } from '../../shared/domain/schema/orm.ts';
import { WORKER_FLAGS } from '../../shared/platform/worker-flags.ts';
import { TASK_QUEUES, WORKFLOW_QUEUES } from '../../shared/pure/task-queues.ts';
import { STOP_RANKS, type NodeProcess, type Processes } from './processes.ts';

export interface BenchStackOptions {
  /** A folder of its own, for a bench that starts several stacks. */
  folder?: string;
  /** Where mail goes; needed by a worker. */
  smtpUrl?: string;
  /** Default true. */
  hasApi?: boolean;
  /** Default true. */
  hasWorker?: boolean;
  /** Further variables for the API and the worker. */
  env?: Readonly<Record<string, string>>;
}

export interface BenchProject {
  id: string;
  publicKey: string;
  secretKey: string;
  /** A sender domain that counts as verified. */
  domain: string;
}

/** A running Everpost, each part in a process of its own. */
export interface BenchStack {
  databaseUrl: string;
  /** A unit of work on the database, to prepare and to look. */
  em: () => Em;
  /** A client of Temporal's namespace `default`. */
  temporal: Client;
  temporalAddress: string;
  project: BenchProject;
  /** Without a slash at the end; nothing listens there when the stack has no API. */
  apiUrl: string;
  /** Environment of the API and the worker. */
  env: NodeJS.ProcessEnv;
  /** Process ids of what was started here. */
  pids: { postgres: number; temporal: number; api: number | undefined };
  /** The worker that serves now; undefined without one. */
  worker: () => NodeProcess | undefined;
  /** Starts a(nother) worker and waits until it polls. */
  startWorker: (env?: NodeJS.ProcessEnv) => Promise<NodeProcess>;
  /** Calls the API with the secret key, or the public one. Rejects when the answer is not 2xx. */
  call: (method: string, path: string, body?: unknown, key?: 'secret' | 'public') => Promise<unknown>;
}

export interface StackDeps {
  home: string;
  guard: ProcessGuard;
  processes: Processes;
  progress: Progress;
  onEnd: (cleanUp: () => Promise<void>) => void;
}

const DATABASE = 'everpost';
const DOMAIN = 'bench.test';
const RETENTION_DAYS = 1;
const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
const READY_TIMEOUT_MS = 120_000;

/** Starts the servers that Everpost needs. */
async function startServers({ home, guard, processes, progress }: StackDeps) {
  progress('Starting PostgreSQL and Temporal');
  const [postgres, temporalServer] = await Promise.all([
    startEmbeddedPostgres({
      dataDirectory: path.join(home, 'postgres'),
      port: await findFreePort(0),
      databases: [DATABASE],
      isDurable: true,
      logFile: processes.logFile('postgres'),
      stopRank: STOP_RANKS.postgres,
      guard,
    }),
    startTemporalServer({
      executable: await resolveTemporalCli(progress),
      port: await findFreePort(0),
      databaseFile: path.join(home, 'temporal.db'),
      retentionDays: RETENTION_DAYS,
      logFile: processes.logFile('temporal'),
      stopRank: STOP_RANKS.temporal,
      guard,
    }),
  ]);
  processes.adopt(postgres.child);
  processes.adopt(temporalServer.child);
  return { postgres, temporalServer };
}

const WAL_FILES = 32;

/**
 * Leaves WAL files to be used again, as they are in a database that has run for a while. A new database fills each file
 * with zeros first, and all commits wait for that.
 */
async function prepareWal(em: Em): Promise<void> {
  for (let count = 0; count < WAL_FILES; count++) {
    await query(em, sql`select pg_current_xact_id(), pg_switch_wal()`);
  }
  await query(em, sql`checkpoint`);
}

/** Creates a project that may send from a domain. */
export async function createBenchProject(run: OperatorCommands, name: string, domain: string): Promise<BenchProject> {
  const created = await run(['project', 'create', '--name', name, '--trusted-domain', domain]);
  const { id, publicKey, secretKey } = created as Omit<BenchProject, 'domain'>;
  return { id, publicKey, secretKey, domain };
}

/** Starts workers, one after the other. */
function createWorkerStarter(
  processes: Processes,
  temporal: Client,
  env: NodeJS.ProcessEnv,
): Pick<BenchStack, 'worker' | 'startWorker'> {
  let worker: NodeProcess | undefined;
  let workerCount = 0;
  return {
    worker: () => worker,
    async startWorker(extra = {}) {
      workerCount += 1;
      const name = workerCount === 1 ? 'worker' : `worker-${workerCount}`;
      const started = await processes.startNode({
        name,
        entry: 'worker/main.ts',
        flags: WORKER_FLAGS,
        env: { ...env, ...extra },
        canProfile: true,
      });
      await started.waitUntil((signal) => waitForPollers(temporal, started.pid, signal), READY_TIMEOUT_MS);
      worker = started;
      return started;
    },
  };
}

/** Creates the function that calls the API as a project. */
export function createApiCall(apiUrl: string, project: BenchProject): BenchStack['call'] {
  return async (method, route, body, key = 'secret') => {
    const response = await fetch(`${apiUrl}${route}`, {
      method,
      headers: {
        authorization: `Bearer ${key === 'secret' ? project.secretKey : project.publicKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
}

/** Starts the parts of Everpost on free ports of 127.0.0.1, as durable as in production. */
export async function startStack(options: BenchStackOptions, deps: StackDeps): Promise<BenchStack> {
  const { home, processes, progress, onEnd } = deps;
  const hasWorker = options.hasWorker ?? true;
  const hasApi = options.hasApi ?? true;
  const { postgres, temporalServer } = await startServers(deps);
  const databaseUrl = postgres.url(DATABASE);
  const apiPort = await findFreePort(0);
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const bundle = path.join(home, 'workflow-bundle.js');
  const env = childEnvironment(home, {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalServer.address,
    APP_SECRET: 'a secret for throw-away benches only',
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    PUBLIC_URL: apiUrl,
    LOG_LEVEL: 'warn',
    API_RATE_LIMIT_PER_MINUTE: '100000000',
    WORKFLOW_BUNDLE: bundle,
    ...(options.smtpUrl !== undefined && { SMTP_URL: options.smtpUrl }),
    ...options.env,
  });

  progress('Bringing up the schema, the namespace and a project');
  const run = createOperatorCommands(env, AbortSignal.timeout(READY_TIMEOUT_MS));
  await Promise.all([run(['migrate']), run(['temporal', 'setup']), hasWorker && bundleWorkflows(bundle, processes)]);
  const project = await createBenchProject(run, 'Bench', DOMAIN);

  const orm = await createOrm({ databaseUrl, poolSize: 4, applicationName: 'everpost-bench' });
  onEnd(() => orm.close());
  await prepareWal(orm.em.fork());
  const connection = await Connection.connect({ address: temporalServer.address });
  onEnd(() => connection.close());
  const temporal = new Client({ connection });

  progress('Starting the API and the worker');
  const { worker, startWorker } = createWorkerStarter(processes, temporal, env);
  const [api] = await Promise.all([
    hasApi ? processes.startNode({ name: 'api', entry: 'api/main.ts', env, canProfile: true }) : undefined,
    hasWorker ? startWorker() : undefined,
  ]);
  await api?.waitUntil((signal) => waitForHttp(`${apiUrl}/ready`, signal), READY_TIMEOUT_MS);

  return {
    databaseUrl,
    em: () => orm.em.fork(),
    temporal,
    temporalAddress: temporalServer.address,
    project,
    apiUrl,
    env,
    pids: { postgres: postgres.child.pid, temporal: temporalServer.child.pid, api: api?.pid },
    worker,
    startWorker,
    call: createApiCall(apiUrl, project),
  };
}

async function bundleWorkflows(target: string, processes: Processes): Promise<void> {
  const bundling = await processes.startNode({ name: 'bundle', entry: 'worker/bundle-workflows.ts', args: [target] });
  const code = await bundling.exited;
  if (code !== 0) throw new Error(`The workflows could not be bundled; see ${processes.logFile('bundle')}.`);
}

/** The environment without what would point the processes at another stack. */
function childEnvironment(home: string, own: Record<string, string>): NodeJS.ProcessEnv {
  const foreign = /^(?:TEMPORAL_|PG|SMTP_|DATABASE_|INBOUND_|DNS_|API_|METRICS_|WORKER_|EMAIL_|NODE_OPTIONS$)/;
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const profileFile = path.join(home, 'temporal.toml');
  writeFileSync(profileFile, '[profile.default]\n');
  return { ...Object.fromEntries(inherited), TEMPORAL_CONFIG_FILE: profileFile, ...own };
}

/** A worker says nothing when it is ready; Temporal knows who polls. */
async function waitForPollers(temporal: Client, workerPid: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const counts = await Promise.all(
      [
        ...WORKFLOW_QUEUES.map((name) => ({ name, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW })),
        ...(['transactional', 'automations', 'campaigns', 'jobs'] as const).map((queue) => ({
          name: TASK_QUEUES[queue],
          taskQueueType: TASK_QUEUE_TYPE_ACTIVITY,
        })),
      ].map(async ({ name, taskQueueType }) => {
        const { pollers } = await temporal.workflowService.describeTaskQueue({
          namespace: 'default',
          taskQueue: { name },
          taskQueueType,
        });
        return pollers.filter((poller) => poller.identity?.startsWith(`${workerPid}@`)).length;
      }),
    );
    if (counts.every((count) => count > 0)) return;
    await delay(100);
  }
}
