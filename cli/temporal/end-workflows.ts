import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../shared/platform/search-attributes.ts';

/** Temporal's list is up to date only after some moments: it lacks new workflows and still has ended ones. */
const PAUSE_MS = 1_000;
const ROUNDS_MAX = 60;

/** Terminates every running workflow of a project, for its deletion. @returns how many were terminated */
export async function endWorkflowsOf(client: Client, projectId: string): Promise<number> {
  const query = `${SEARCH_ATTRIBUTES.projectId} = '${projectId}' and ExecutionStatus = 'Running'`;
  const terminated = new Set<string>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    let hasFound = false;
    for await (const { workflowId, runId } of client.workflow.list({ query })) {
      if (terminated.has(runId)) continue;
      hasFound = true;
      terminated.add(runId);
      await client.workflow
        .getHandle(workflowId, runId)
        .terminate('the project is deleted')
        .catch((error: unknown) => {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        });
    }
    if (!hasFound && round > 0) break;
    await delay(PAUSE_MS);
  }
  return terminated.size;
}

/** Whether a workflow of a project was terminated in the last `ms` milliseconds. */
export async function wereEndedWithin(client: Client, projectId: string, ms: number): Promise<boolean> {
  const since = new Date(Date.now() - ms).toISOString();
  const { count } = await client.workflow.count(
    `${SEARCH_ATTRIBUTES.projectId} = '${projectId}' and ExecutionStatus = 'Terminated' and CloseTime > '${since}'`,
  );
  return count > 0;
}
