import type { z } from 'zod';
import {
  createAutomation,
  deleteAutomation,
  listAutomations,
  updateAutomation,
} from '../../shared/domain/automations/automations.ts';
import { countFailed } from '../../shared/domain/automations/execution-count.ts';
import { findDefinition } from '../../shared/domain/automations/automation-graphs.ts';
import { listConditionFields } from '../../shared/domain/automations/condition-fields.ts';
import { findTemplateNames } from '../../shared/domain/templates/templates.ts';
import { created, endpointsOf, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import { offsetPage } from '../http/pagination.ts';
import { definitionSchema, definitionView, workflowSchema, workflowView } from './automation.view.ts';
import {
  createWorkflowBody,
  patchWorkflowBody,
  workflowFieldsSchema,
  workflowListQuery,
  workflowListSchema,
} from './automations.schemas.ts';

const endpoint = endpointsOf('Workflows', 'WORKFLOW_NOT_FOUND');

const list = endpoint('listWorkflows', 'GET /workflows', {
  roles: ['marketing', 'read'],
  isHeavy: true,
  summary: 'List workflows by page',
  query: workflowListQuery,
  replies: { 200: { description: 'A page of workflows', schema: workflowListSchema } },
  async handle({ em, project, query }) {
    const enabled = query.status === undefined ? undefined : query.status === 'active';
    const [listed, total] = await listAutomations(em, project.id, { ...query, enabled });
    const items = listed.map(({ automation, stepCount, executionCount, failedCount }) => ({
      ...workflowView(automation),
      _count: { steps: stepCount, executions: executionCount },
      failedExecutions: failedCount,
    }));
    return ok({ ...offsetPage(items, total, query), failedExecutions: await countFailed(em, project.id) });
  },
});

const fields = endpoint('listWorkflowFields', 'GET /workflows/fields', {
  roles: ['marketing', 'read'],
  summary: 'List the fields that a CONDITION step can read',
  description:
    'Fields of the contact, which are those of a segment filter, and the keys seen in recent events as `event.<key>`.',
  replies: { 200: { description: 'The fields with their types', schema: workflowFieldsSchema } },
  handle: async ({ em, project }) => ok({ fields: await listConditionFields(em, project.id) }),
});

const create = endpoint('createWorkflow', 'POST /workflows', {
  roles: ['marketing'],
  summary: 'Create a workflow, disabled, with its TRIGGER step',
  body: createWorkflowBody,
  replies: { 201: { description: 'The workflow', schema: workflowSchema } },
  async handle({ em, project, body }) {
    const { name, description, eventName, triggerConfig, allowReentry } = body;
    const triggerEvent = eventName ?? triggerConfig?.eventName ?? '';
    const { humanOnly: triggerHumanOnly } = triggerConfig ?? {};
    const input = { name, description, triggerEvent, triggerHumanOnly, allowReentry };
    return created(workflowView(await createAutomation(em, project.id, input)));
  },
});

const get = endpoint('getWorkflow', 'GET /workflows/:id', {
  roles: ['marketing', 'read'],
  summary: 'Get a workflow with its steps and transitions',
  replies: { 200: { description: 'The workflow', schema: definitionSchema } },
  async handle({ em, project, params }) {
    const definition = await findDefinition(em, project.id, params.id);
    const templateIds = definition.steps.flatMap((step) => step.templateId ?? []);
    return ok(definitionView(definition, await findTemplateNames(em, project.id, templateIds)));
  },
});

function patchOf({ eventName, triggerConfig, ...patch }: z.infer<typeof patchWorkflowBody>) {
  const triggerEvent = eventName ?? triggerConfig?.eventName;
  const triggerHumanOnly = triggerConfig?.humanOnly;
  return {
    ...patch,
    ...(triggerEvent !== undefined && { triggerEvent }),
    ...(triggerHumanOnly !== undefined && { triggerHumanOnly }),
  };
}

const patch = endpoint('updateWorkflow', 'PATCH /workflows/:id', {
  roles: ['marketing'],
  summary: 'Change the given fields of a workflow',
  description: 'Setting `enabled` checks the workflow as a whole; `details.problems` lists what keeps it from running.',
  body: patchWorkflowBody,
  replies: { 200: { description: 'The workflow after the change', schema: workflowSchema } },
  errors: ['BAD_REQUEST'],
  handle: async ({ em, project, params, body }) =>
    ok(workflowView(await updateAutomation(em, project.id, params.id, patchOf(body)))),
});

const remove = endpoint('deleteWorkflow', 'DELETE /workflows/:id', {
  roles: ['marketing'],
  summary: 'Delete a workflow that has no active executions',
  replies: { 204: { description: 'Deleted' } },
  errors: ['CONFLICT'],
  handle: ({ em, project, params }) => noContent(deleteAutomation(em, project.id, params.id)),
});

export const automationEndpoints: Endpoint[] = [list, fields, create, get, patch, remove];
