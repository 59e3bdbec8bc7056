import { randomUUID } from 'node:crypto';
import type { TestNamespace } from './temporal.ts';

/** Resets a workflow to its last workflow task, as the Temporal UI does. */
export async function resetToLastTask({ client, namespace }: TestNamespace, workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const last = events?.findLast((event) => event.workflowTaskCompletedEventAttributes);
  if (!last) throw new Error(`${workflowId} has completed no workflow task`);
  await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    reason: 'repaired',
    requestId: randomUUID(),
    workflowTaskFinishEventId: last.eventId,
  });
}
