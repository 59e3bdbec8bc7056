import { randomUUID } from 'node:crypto';
import type { ReconcileReport } from '../../shared/domain/lifecycle/reconcile.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { WORKFLOW_TYPES, type ReconcileInput } from '../../shared/pure/workflow-contracts.ts';
import { sql, type Em } from '../../shared/database/sql.ts';
import { eventually } from './eventually.ts';
import { query } from './rows.ts';
import type { TestStack } from './stack.ts';

/** The status of a workflow in Temporal; undefined when Temporal does not know the workflow. */
export async function statusOf(stack: TestStack, workflowId: string): Promise<string | undefined> {
  const found = await stack.temporal.client.workflow
    .getHandle(workflowId)
    .describe()
    .catch(() => undefined);
  return found?.status.name;
}

/** Reconciles now, everything that is late by default. @returns what the activity reported */
export async function reconcile(stack: TestStack, input: ReconcileInput = {}): Promise<ReconcileReport> {
  const handle = await stack.temporal.client.workflow.start(WORKFLOW_TYPES.reconcile, {
    workflowId: `reconcile-${randomUUID()}`,
    taskQueue: TASK_QUEUES.orchestration,
    args: [input],
  });
  await handle.result();
  const { events } = await handle.fetchHistory();
  const payload = events?.flatMap((event) => event.activityTaskCompletedEventAttributes?.result?.payloads ?? [])[0];
  return JSON.parse(Buffer.from(payload?.data ?? '').toString()) as ReconcileReport;
}

/**
 * Waits until the outbox is empty. A workflow runs a moment before its row leaves the outbox, and reconciliation leaves out
 * what has a row there.
 */
export async function untilHandedOver(em: () => Em, timeoutMs?: number): Promise<void> {
  await eventually(async () => (await query(em(), sql`select from outbox`)).length === 0, timeoutMs);
}
