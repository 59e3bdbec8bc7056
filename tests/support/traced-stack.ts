import { findFreePort } from '../../local/processes/free-port.ts';
import { callsTo, startTestApi, type TestApi } from './api.ts';
import { testEnvironment } from './environment.ts';
import { eventually } from './eventually.ts';
import { startEverpostProcess, type EverpostProcess } from './everpost-process.ts';
import { createSmtpSink, type SmtpSink } from './smtp-sink.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';

/** An API process and a worker process. Only workers dispatch the outbox. */
export interface TracedStack extends Pick<TestApi, 'api' | 'em' | 'project' | 'keys'> {
  sink: SmtpSink;
  temporal: TestNamespace;
  processes: { api: EverpostProcess; worker: EverpostProcess };
  /** Starts a worker process that dispatches the outbox and serves these task queues only. */
  startWorker: (taskQueues: string) => void;
  stop: () => Promise<void>;
}

/** The output of a process that loads OpenTelemetry's SDK. */
export const SDK_LOADED = 'the SDK is being loaded';
const REPORT_SDK = `
import { registerHooks } from 'node:module';
let isSaid = false;
registerHooks({ load(url, context, next) {
  if (!isSaid && /@opentelemetry\\/(sdk|exporter|otlp|resources|core)/.test(url)) console.error('${SDK_LOADED}', isSaid = true);
  return next(url, context);
} });`;

/** An API process and a worker process with these variables, on a database and a namespace of their own. */
export async function startTracedStack(variables: {
  api: NodeJS.ProcessEnv;
  worker: NodeJS.ProcessEnv;
}): Promise<TracedStack> {
  const [sink, temporal, port] = [await createSmtpSink(), await createTestNamespace(), await findFreePort(0)];
  const base = await startTestApi({ config: { SMTP_URL: [sink.url], SMTP_CONNECTIONS: 5 } });
  const common = { LOG_LEVEL: 'warn', OTEL_BSP_SCHEDULE_DELAY: '100' };
  const nodeArguments = ['--import', `data:text/javascript,${encodeURIComponent(REPORT_SDK)}`];
  const host = '127.0.0.1';
  const startWorker = (more: NodeJS.ProcessEnv = {}) =>
    startEverpostProcess(
      ...(['worker', base.config, temporal] as const),
      { ...common, WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath, ...variables.worker, ...more },
      nodeArguments,
    );
  const processes = {
    api: startEverpostProcess(
      ...(['api', base.config, temporal] as const),
      { ...common, HOST: host, PORT: String(port), ...variables.api },
      nodeArguments,
    ),
    worker: startWorker(),
  };
  const others: EverpostProcess[] = [];
  const url = `http://${host}:${port}`;
  await eventually(async () => (await fetch(`${url}/ready`)).status === 200, 60_000);
  const api = callsTo(url, base.keys);
  // A key that the process has not seen yet continues no trace.
  await api('GET', '/contacts?limit=1');
  return {
    ...base,
    api,
    sink,
    temporal,
    processes,
    startWorker: (taskQueues) => void others.push(startWorker({ WORKER_TASK_QUEUES: taskQueues })),
    async stop() {
      await Promise.all([processes.api, processes.worker, ...others].map((process) => process.kill()));
      await temporal.close();
      await sink.close();
      await base.stop();
    },
  };
}
