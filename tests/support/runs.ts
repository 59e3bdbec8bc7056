import type { Client } from '@temporalio/client';

/** The ids of the runs of a workflow that has continued as new, the first one first. */
export async function runIdsOf(client: Client, workflowId: string): Promise<string[]> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const runIds: string[] = [];
  let runId = raw.workflowExecutionInfo?.firstRunId;
  while (runId) {
    runIds.push(runId);
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return runIds;
}
