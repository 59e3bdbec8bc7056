import type { Client } from '@temporalio/client';
import { Runtime, Worker } from '@temporalio/worker';
import { createTemporalClient, readTemporalOptions } from '../shared/durable/temporal/client.ts';
import { ConfigError, readConfig } from '../shared/platform/config.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { WORKFLOW_TYPES } from '../shared/pure/workflow-contracts.ts';
import { workflowBundleOf } from './create-worker.ts';
import { temporalLogger } from './temporal-logger.ts';

// Replays open workflows of the namespace with the workflow code of this build, before the build becomes current. Ends
// with exit code 1 when the code does not fit the history of one of them. Changes nothing.

/** The number of workflows of each type, the newest first. */
const SAMPLE_DEFAULT = 100;

/** The histories of the open workflows that this build would continue. Those pinned to another build stay there. */
async function* openHistories({ workflow }: Client, sample: number) {
  for (const type of Object.values(WORKFLOW_TYPES)) {
    const open = workflow.list({
      query:
        `ExecutionStatus = 'Running' AND WorkflowType = '${type}' AND ` +
        `(TemporalWorkflowVersioningBehavior IS NULL OR TemporalWorkflowVersioningBehavior != 'Pinned')`,
      pageSize: sample,
    });
    let count = 0;
    for await (const { workflowId, runId } of open) {
      if (++count > sample) break;
      yield { workflowId, history: await workflow.getHandle(workflowId, runId).fetchHistory() };
    }
  }
}

/** Returns the exit code. */
async function main(): Promise<number> {
  const [given] = process.argv.slice(2);
  const sample = given === undefined ? SAMPLE_DEFAULT : Number(given);
  if (!Number.isInteger(sample) || sample < 1) {
    process.stderr.write('usage: node worker/replay-open-workflows.ts [workflows of each type]\n');
    return 1;
  }
  const config = readConfig();
  Runtime.install({ logger: temporalLogger(createLogger({ level: 'silent', name: 'replay' })) });
  const temporal = readTemporalOptions(config.TEMPORAL_CODEC_KEYS);
  const client = createTemporalClient(temporal);
  const { dataConverter } = temporal;
  const workflowBundle = await workflowBundleOf({ workflowBundlePath: config.WORKFLOW_BUNDLE, dataConverter });
  const options = { workflowBundle, ...(dataConverter && { dataConverter }) };
  let replayed = 0;
  let failed = 0;
  for await (const { workflowId, error } of Worker.runReplayHistories(options, openHistories(client, sample))) {
    replayed++;
    if (!error) continue;
    failed++;
    process.stderr.write(`${workflowId} does not replay: ${error.message.split('\n', 1)[0] ?? ''}\n`);
  }
  await client.connection.close();
  process.stdout.write(`${replayed} open workflows were replayed with this build, ${failed} of them failed\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  return 1;
});
