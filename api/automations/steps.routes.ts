import { validationError } from '../../shared/pure/app-error.ts';
import { configForm, STEP_CONFIGS, type StoredConfig } from '../../shared/pure/automations/automation-config.ts';
import type { StepType } from '../../shared/pure/automations/automation-status.ts';
import { CHECKS } from '../../shared/pure/schema-messages.ts';
import {
  addStep,
  addTransition,
  findStepType,
  removeStep,
  removeTransition,
  updateStep,
} from '../../shared/domain/automations/steps.ts';
import { created, endpointsOf, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import { fieldErrorsOf } from '../http/field-errors.ts';
import { ignoredKeys } from '../http/ignored-fields.ts';
import { stepSchema, stepView, transitionSchema, transitionView } from './automation.view.ts';
import {
  createStepBody,
  createTransitionBody,
  documentedStepBody,
  patchStepBody,
  removeStepQuery,
} from './automations.schemas.ts';

const endpoint = endpointsOf('Workflows', 'WORKFLOW_NOT_FOUND');

/** A key of another name for the template of a SEND_EMAIL step. */
const TEMPLATE_KEY = /^config\.[\w-]*template[\w-]*$/i;

/** Checks that a SEND_EMAIL step is not left without its template because of a key of another name. */
function assertTemplateKey(config: StoredConfig, ignored: readonly string[]): void {
  const misnamed = config['templateId'] === undefined && ignored.find((field) => TEMPLATE_KEY.test(field));
  if (!misnamed) return;
  const message = `Required: the template is named by templateId, not by ${misnamed}`;
  throw validationError([{ field: 'config.templateId', message, code: 'invalid_type' }]);
}

/**
 * Checks a configuration by the schema of its step. Keys that the step does not know are left out.
 * @throws AppError VALIDATION_ERROR that names `config.<field>`
 */
function parseConfig(
  type: StepType,
  config: StoredConfig,
  noteIgnored: (fields: readonly string[]) => void,
): StoredConfig {
  const ignored = ignoredKeys(configForm(type, config), config, 'config.');
  noteIgnored(ignored);
  if (type === 'SEND_EMAIL') assertTemplateKey(config, ignored);
  const result = STEP_CONFIGS[type].safeParse(config, CHECKS);
  if (result.success) return result.data as StoredConfig;
  const errors = fieldErrorsOf(result.error);
  throw validationError(
    errors.map((error) => ({ ...error, field: ['config', error.field].filter(Boolean).join('.') })),
  );
}

const add = endpoint('addWorkflowStep', 'POST /workflows/:id/steps', {
  roles: ['marketing'],
  summary: 'Add a step',
  body: createStepBody,
  documentedBody: documentedStepBody,
  replies: { 201: { description: 'The step', schema: stepSchema } },
  errors: ['TEMPLATE_NOT_FOUND', 'TOPIC_NOT_FOUND', 'BAD_REQUEST'],
  async handle({ em, project, params, body, noteIgnored }) {
    const config = parseConfig(body.type, body.config, noteIgnored);
    const step = await addStep(em, project.id, params.id, { ...body, name: body.name ?? body.type, config });
    return created(stepView(step));
  },
});

const patch = endpoint('updateWorkflowStep', 'PATCH /workflows/:id/steps/:stepId', {
  roles: ['marketing'],
  summary: 'Change the given fields of a step; its config is replaced as a whole',
  description: 'Executions that have started keep the steps they started with.',
  body: patchStepBody,
  replies: { 200: { description: 'The step after the change', schema: stepSchema } },
  errors: ['RESOURCE_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'TOPIC_NOT_FOUND', 'BAD_REQUEST'],
  async handle({ em, project, params, body, noteIgnored }) {
    const type = await findStepType(em, project.id, params.id, params.stepId);
    const config = body.config && parseConfig(type, body.config, noteIgnored);
    return ok(stepView(await updateStep(em, project.id, params.id, params.stepId, { ...body, config })));
  },
});

const remove = endpoint('removeWorkflowStep', 'DELETE /workflows/:id/steps/:stepId', {
  roles: ['marketing'],
  summary: 'Delete a step and its transitions',
  description: 'With `splice=true`, the steps before it get transitions to the step after it.',
  query: removeStepQuery,
  replies: { 204: { description: 'Deleted' } },
  errors: ['RESOURCE_NOT_FOUND', 'BAD_REQUEST'],
  handle: ({ em, project, params, query }) =>
    noContent(removeStep(em, project.id, params.id, params.stepId, query.splice ?? false)),
});

const connect = endpoint('addWorkflowTransition', 'POST /workflows/:id/transitions', {
  roles: ['marketing'],
  summary: 'Add a transition from one step to another',
  body: createTransitionBody,
  replies: { 201: { description: 'The transition', schema: transitionSchema } },
  errors: ['RESOURCE_NOT_FOUND', 'BAD_REQUEST'],
  handle: async ({ em, project, params, body }) =>
    created(transitionView(await addTransition(em, project.id, params.id, body))),
});

const disconnect = endpoint('removeWorkflowTransition', 'DELETE /workflows/:id/transitions/:transitionId', {
  roles: ['marketing'],
  summary: 'Delete a transition',
  replies: { 204: { description: 'Deleted' } },
  errors: ['RESOURCE_NOT_FOUND'],
  handle: ({ em, project, params }) => noContent(removeTransition(em, project.id, params.id, params.transitionId)),
});

export const stepEndpoints: Endpoint[] = [add, patch, remove, connect, disconnect];
