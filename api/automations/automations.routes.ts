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
import { created, endpoint, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import { idParams, offsetPage } from '../http/pagination.ts';
import { definitionSchema, definitionView, workflowSchema, workflowView } from './automation.view.ts';
import {
  createWorkflowBody,
  patchWorkflowBody,
  workflowFieldsSchema,
  workflowListQuery,
  workflowListSchema,
} from './automations.schemas.ts';

const base = { tag: 'Workflows' } as const;
const withId = {
  ...base,
  params: idParams,
  malformedIdCode: 'WORKFLOW_NOT_FOUND',
  errors: ['WORKFLOW_NOT_FOUND'],
} as const;

const list = endpoint({
  ...base,
  operationId: 'listWorkflows',
  roles: ['marketing', 'read'],
  isHeavy: true,
  method: 'get',
  path: '/workflows',
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

const fields = endpoint({
  ...base,
  operationId: 'listWorkflowFields',
  roles: ['marketing', 'read'],
  method: 'get',
  path: '/workflows/fields',
  summary: 'List the fields that a CONDITION step can read',
  description:
    'Fields of the contact, which are those of a segment filter, and the keys seen in recent events as `event.<key>`.',
  replies: { 200: { description: 'The fields with their types', schema: workflowFieldsSchema } },
  handle: async ({ em, project }) => ok({ fields: await listConditionFields(em, project.id) }),
});

const create = endpoint({
  ...base,
  operationId: 'createWorkflow',
  roles: ['marketing'],
  method: 'post',
  path: '/workflows',
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

const get = endpoint({
  ...withId,
  operationId: 'getWorkflow',
  roles: ['marketing', 'read'],
  method: 'get',
  path: '/workflows/:id',
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

const patch = endpoint({
  ...withId,
  operationId: 'updateWorkflow',
  roles: ['marketing'],
  method: 'patch',
  path: '/workflows/:id',
  summary: 'Change the given fields of a workflow',
  description: 'Setting `enabled` checks the workflow as a whole; `details.problems` lists what keeps it from running.',
  body: patchWorkflowBody,
  replies: { 200: { description: 'The workflow after the change', schema: workflowSchema } },
  errors: ['WORKFLOW_NOT_FOUND', 'BAD_REQUEST'],
  handle: async ({ em, project, params, body }) =>
    ok(workflowView(await updateAutomation(em, project.id, params.id, patchOf(body)))),
});

const remove = endpoint({
  ...withId,
  operationId: 'deleteWorkflow',
  roles: ['marketing'],
  method: 'delete',
  path: '/workflows/:id',
  summary: 'Delete a workflow that has no active executions',
  replies: { 204: { description: 'Deleted' } },
  errors: ['WORKFLOW_NOT_FOUND', 'CONFLICT'],
  async handle({ em, project, params }) {
    await deleteAutomation(em, project.id, params.id);
    return noContent();
  },
});

export const automationEndpoints: Endpoint[] = [list, fields, create, get, patch, remove];
