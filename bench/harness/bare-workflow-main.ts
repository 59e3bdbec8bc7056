import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';

/**
 * Runs bare workflows of one activity each, with a starter and a worker in this process. As many starts are under way
 * at once as in Everpost's dispatcher. The first `warmUp` workflows are not counted. Prints how many complete in a
 * second, and the CPU time of this process for each.
 */
const [address = '', countText = '', warmUpText = ''] = process.argv.slice(2);
const count = Number(countText);
const warmUp = Number(warmUpText);
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
let remaining = 0;
let finish: () => void = ignore;
const worker = await Worker.create({
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle,
  maxCachedWorkflows: CACHED_WORKFLOWS,
  maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
  activities: {
    nothing() {
      remaining -= 1;
      if (remaining === 0) finish();
      return Promise.resolve();
    },
  },
});
const running = worker.run();

/** Starts workflows and waits until all have done their activity. */
async function runWorkflows(name: string, amount: number): Promise<void> {
  remaining = amount;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let next = 0;
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (let index = next++; index < amount; index = next++) {
        await client.workflow.start('bare', {
          workflowId: `bare/${process.pid}/${name}/${index}`,
          taskQueue: TASK_QUEUE,
        });
      }
    }),
  );
  await finished;
}

await runWorkflows('warm-up', warmUp);
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await runWorkflows('measured', count);
const perSecond = (count / (performance.now() - startedAt)) * 1_000;
const cpu = process.cpuUsage(cpuBefore);
worker.shutdown();
await running;
await client.connection.close();
await connection.close();
process.stdout.write(`${JSON.stringify({ perSecond, cpuMs: (cpu.user + cpu.system) / 1_000 / count })}\n`);
