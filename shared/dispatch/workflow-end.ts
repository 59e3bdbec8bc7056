import { WorkflowNotFoundError, type Client } from '@temporalio/client';

/** Asks Temporal when a workflow ended. Returns undefined while it runs, and `{}` when Temporal does not know it. */
export async function findWorkflowEnd(client: Client, workflowId: string): Promise<{ endedAt?: Date } | undefined> {
  try {
    const { status, closeTime } = await client.workflow.getHandle(workflowId).describe();
    if (status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW') return undefined;
    return { endedAt: closeTime };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return {};
    throw error;
  }
}
