import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../platform/search-attributes.ts';

/** Temporal lists a workflow some moments after its start, and as running for some moments after its end. */
const PAUSE_MS = 1_000;
const ROUNDS_MAX = 60;

/** Ends every workflow of a project at once, whatever it does. @returns how many were ended */
export async function endWorkflowsOf(client: Client, projectId: string): Promise<number> {
  const query = `${SEARCH_ATTRIBUTES.projectId} = '${projectId}' and ExecutionStatus = 'Running'`;
  const ended = new Set<string>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    let isNew = false;
    for await (const { workflowId, runId } of client.workflow.list({ query })) {
      if (ended.has(runId)) continue;
      isNew = true;
      ended.add(runId);
      await client.workflow
        .getHandle(workflowId, runId)
        .terminate('the project is deleted')
        .catch((error: unknown) => {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        });
    }
    if (!isNew && round > 0) break;
    await delay(PAUSE_MS);
  }
  return ended.size;
}
