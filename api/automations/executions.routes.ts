import { z } from 'zod';
import { EXECUTION_STATUSES } from '../../shared/pure/automations/automation-status.ts';
import { findAutomation } from '../../shared/domain/automations/automation-graphs.ts';
import {
  cancelAllExecutions,
  cancelExecution,
  findExecution,
  listExecutions,
  listStepExecutions,
  startExecution,
} from '../../shared/domain/automations/executions.ts';
import { retryExecution, retryFailedExecutions } from '../../shared/domain/automations/retry-executions.ts';
import { created, endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { offsetPage } from '../http/pagination.ts';
import { readStatus } from '../http/status-query.ts';
import { executionListQuery, executionListSchema, retryFailedBody, startExecutionBody } from './automations.schemas.ts';
import {
  executionDetailSchema,
  executionDetailView,
  executionSchema,
  executionView,
  listedExecutionView,
} from './execution.view.ts';

const endpoint = endpointsOf('Workflows', 'WORKFLOW_NOT_FOUND');
const executionEndpoint = endpointsOf('Workflows', 'EXECUTION_NOT_FOUND', ['WORKFLOW_NOT_FOUND']);

const start = endpoint('startWorkflowExecution', 'POST /workflows/:id/executions', {
  roles: ['marketing'],
  summary: 'Start a workflow for a contact by hand',
  body: startExecutionBody,
  replies: { 201: { description: 'The execution', schema: executionSchema } },
  errors: ['CONTACT_NOT_FOUND', 'BAD_REQUEST', 'CONFLICT'],
  subjects: ({ id }: z.infer<typeof executionSchema>) => [id],
  async handle({ em, project, params, body }) {
    const execution = await startExecution(em, project.id, params.id, body.contactId, body.context ?? {});
    return created(executionView(execution));
  },
});

const list = endpoint('listWorkflowExecutions', 'GET /workflows/:id/executions', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'List the executions of a workflow by page, newest first',
  query: executionListQuery,
  replies: { 200: { description: 'A page of executions', schema: executionListSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, params, query }) {
    const status = readStatus(query.status, EXECUTION_STATUSES, 'the status of an execution');
    const [executions, total] = await listExecutions(em, project.id, params.id, { ...query, status });
    const views = executions.map(listedExecutionView);
    return ok({ ...offsetPage(views, total, query), executions: views });
  },
});

const get = executionEndpoint('getWorkflowExecution', 'GET /workflows/:id/executions/:executionId', {
  roles: ['marketing', 'support', 'read'],
  summary: 'Get an execution with what became of each step',
  replies: { 200: { description: 'The execution', schema: executionDetailSchema } },
  async handle({ em, project, params }) {
    const automation = await findAutomation(em, project.id, params.id);
    const execution = await findExecution(em, project.id, params.id, params.executionId);
    return ok(executionDetailView(execution, automation, await listStepExecutions(em, execution.id)));
  },
});

const cancel = executionEndpoint('cancelWorkflowExecution', 'DELETE /workflows/:id/executions/:executionId', {
  roles: ['marketing'],
  summary: 'Cancel an execution that is running or waiting',
  replies: { 200: { description: 'The execution, CANCELLED', schema: executionSchema } },
  errors: ['CONFLICT'],
  handle: async ({ em, project, params }) =>
    ok(executionView(await cancelExecution(em, project.id, params.id, params.executionId))),
});

const cancelAll = endpoint('cancelAllWorkflowExecutions', 'POST /workflows/:id/executions/cancel-all', {
  roles: ['marketing'],
  summary: 'Cancel every active execution of a workflow',
  replies: { 200: { description: 'How many were active', schema: z.object({ cancelled: z.int() }) } },
  handle: async ({ em, project, params }) => ok({ cancelled: await cancelAllExecutions(em, project.id, params.id) }),
});

const retry = executionEndpoint('retryWorkflowExecution', 'POST /workflows/:id/executions/:executionId/retry', {
  roles: ['marketing'],
  summary: 'Have a failed execution go on at the step that failed',
  description:
    'It keeps its context and the steps that it started with, except that the failed step has the config that the ' +
    'workflow has now. Steps before it are not repeated. 409 when the execution is not FAILED, when its contact was ' +
    'deleted, or while the contact is in the workflow with another execution.',
  replies: { 200: { description: 'The execution, RUNNING', schema: executionSchema } },
  errors: ['CONFLICT'],
  handle: async ({ em, project, params }) =>
    ok(executionView(await retryExecution(em, project.id, params.id, params.executionId))),
});

const retryFailed = endpoint('retryFailedWorkflowExecutions', 'POST /workflows/:id/executions/retry-failed', {
  roles: ['marketing'],
  isHeavy: true,
  summary: 'Have all failed executions of a workflow, or of one step, go on',
  description:
    'A job does it, as for a single one. Executions that cannot go on stay FAILED: those whose contact was deleted or ' +
    'is in the workflow with another execution. Of several failed ones of a contact the newest goes on.',
  body: retryFailedBody,
  replies: {
    202: {
      description: 'How many have failed; a job goes through them',
      schema: z.object({ failed: z.int().describe('How many executions have failed') }),
    },
  },
  async handle({ em, project, params, body }) {
    const failed = await retryFailedExecutions(em, project.id, params.id, body.stepId ?? null);
    return { status: 202, data: { failed } };
  },
});

export const executionEndpoints: Endpoint[] = [start, list, get, retry, retryFailed, cancel, cancelAll];
