import { WorkflowNotFoundError, type Client } from '@temporalio/client';

/** Questions to Temporal at the same time. */
const PARALLEL = 20;

/** Asks Temporal when a workflow ended. Returns undefined while it runs, and `{}` when Temporal does not know it. */
async function findWorkflowEnd(client: Client, workflowId: string): Promise<{ endedAt?: Date } | undefined> {
  try {
    const { status, closeTime } = await client.workflow.getHandle(workflowId).describe();
    if (status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW') return undefined;
    return { endedAt: closeTime };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return {};
    throw error;
  }
}

/** Of these claims, in their order, those whose workflow does not run, with the time when it ended. */
export async function findEnded<T extends { workflowId: string }>(
  client: Client,
  claims: readonly T[],
): Promise<(T & { endedAt?: Date })[]> {
  const ends = new Map<T, { endedAt?: Date }>();
  const waiting = [...claims];
  async function askOneByOne(): Promise<void> {
    for (let claim = waiting.shift(); claim; claim = waiting.shift()) {
      const end = await findWorkflowEnd(client, claim.workflowId);
      if (end) ends.set(claim, end);
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, askOneByOne));
  return claims.flatMap((claim) => {
    const end = ends.get(claim);
    return end ? [{ ...claim, ...end }] : [];
  });
}
