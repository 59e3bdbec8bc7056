import { z } from 'zod';
import { countEnded } from '../../shared/domain/automations/execution-count.ts';
import { countExecutionsAt } from '../../shared/domain/automations/executions.ts';
import { EXECUTION_STATUSES } from '../../shared/pure/automations/automation-status.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { listOf, model } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Workflows', 'WORKFLOW_NOT_FOUND');

export const executionCountsSchema = model('ExecutionCounts', 'Where the executions of a workflow are', {
  counts: listOf('ExecutionCount', 'The executions of one status at one step', 'the largest first', {
    stepId: z.uuid().nullable().describe('null for executions that have not begun a step'),
    status: z.enum(EXECUTION_STATUSES),
    executions: z.int().describe('How many there are'),
  }),
  ended: listOf(
    'EndedExecutionCount',
    'The executions that have ended in one status',
    'how many have ended, at whatever step',
    {
      status: z.enum(EXECUTION_STATUSES),
      executions: z.int().describe('How many there are'),
    },
  ),
});

export const executionCountEndpoints: Endpoint[] = [
  endpoint('countWorkflowExecutions', 'GET /workflows/:id/executions/counts', {
    roles: ['marketing', 'support', 'read'],
    isHeavy: true,
    summary: 'How many executions run, wait or have failed at each step',
    replies: { 200: { description: 'The counts', schema: executionCountsSchema } },
    async handle({ em, project, params }) {
      const counts = await countExecutionsAt(em, project.id, params.id);
      return ok({ counts, ended: await countEnded(em, params.id) });
    },
  }),
];
