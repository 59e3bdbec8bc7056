/* The workflows of a version that changes a long-lived workflow without a patch. */
import { sleep } from '@temporalio/workflow';
import type { AutomationExecutionInput } from '../../../shared/pure/workflow-contracts.ts';
import * as today from '../../../workflows/index.ts';

export * from '../../../workflows/index.ts';

export async function automationExecution(input: AutomationExecutionInput) {
  await sleep(1);
  return today.automationExecution(input);
}
