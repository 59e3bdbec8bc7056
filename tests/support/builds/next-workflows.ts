/*
 * The workflows of a later version. Each begins with a timer, which no history of today has. Histories of short
 * workflows do not fit this code. Those of long-lived workflows do, because the change is behind a patch.
 */
import { patched, setWorkflowOptions, sleep } from '@temporalio/workflow';
import type {
  AutomationExecutionInput,
  CampaignInput,
  EmailDeliveryInput,
} from '../../../shared/pure/workflow-contracts.ts';
import * as today from '../../../workflows/index.ts';

export * from '../../../workflows/index.ts';

const CHANGE = 'begin-with-a-timer';

export async function emailDelivery(input: EmailDeliveryInput) {
  await sleep(1);
  return today.emailDelivery(input);
}
setWorkflowOptions({ versioningBehavior: 'PINNED' }, emailDelivery);

export async function automationExecution(input: AutomationExecutionInput) {
  if (patched(CHANGE)) await sleep(1);
  return today.automationExecution(input);
}

export async function campaign(input: CampaignInput) {
  if (patched(CHANGE)) await sleep(1);
  return today.campaign(input);
}
