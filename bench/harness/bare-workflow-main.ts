import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';

/**
 * Runs bare workflows of one activity each: a starter and a worker in one process, as many starts under way at once as
 * Everpost's dispatcher has. Prints how many complete in a second.
 */
const [address = '', countText = ''] = process.argv.slice(2);
const count = Number(countText);
const TASK_QUEUE = 'bench-bare';
const IN_FLIGHT = 60;
const CACHED_WORKFLOWS = 500;
const ACTIVITY_SLOTS = 20;

const ignore = (): void => undefined;
const quiet = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore, log: ignore };
Runtime.install({
  logger: quiet,
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
});

const connection = await NativeConnection.connect({ address });
const client = new Client({ connection: await Connection.connect({ address }) });
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./bare-workflow.ts', import.meta.url)),
  logger: quiet,
});
let done = 0;
let finish: () => void = ignore;
const finished = new Promise<void>((resolve) => {
  finish = resolve;
});
const worker = await Worker.create({
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle,
  maxCachedWorkflows: CACHED_WORKFLOWS,
  maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
  activities: {
    nothing() {
      done += 1;
      if (done === count) finish();
      return Promise.resolve();
    },
  },
});
const running = worker.run();

const startedAt = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: IN_FLIGHT }, async () => {
    for (let index = next++; index < count; index = next++) {
      await client.workflow.start('bare', { workflowId: `bare/${index}`, taskQueue: TASK_QUEUE });
    }
  }),
);
await finished;
const perSecond = (count / (performance.now() - startedAt)) * 1_000;
worker.shutdown();
await running;
await client.connection.close();
await connection.close();
process.stdout.write(`${JSON.stringify({ perSecond })}\n`);
