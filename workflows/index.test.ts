import { expect, it } from '@jest/globals';
import { WORKFLOW_TYPES } from '../shared/pure/workflow-contracts.ts';
import * as workflows from './index.ts';

const LONG_LIVED: string[] = [
  WORKFLOW_TYPES.automationExecution,
  WORKFLOW_TYPES.campaign,
  WORKFLOW_TYPES.erasure,
  WORKFLOW_TYPES.optIn,
  WORKFLOW_TYPES.scheduledEmail,
  WORKFLOW_TYPES.webhookEndpoint,
];

it('every type of workflow ends in the version that started it, except those that may run for months', () => {
  const pinned = Object.entries(workflows).filter(([, workflow]) => 'workflowDefinitionOptions' in workflow);
  const types = Object.values(WORKFLOW_TYPES).filter((type) => !LONG_LIVED.includes(type));
  expect(Object.keys(workflows).sort()).toEqual(Object.values(WORKFLOW_TYPES).sort());
  expect(pinned.map(([type]) => type).sort()).toEqual(types.sort());
});
