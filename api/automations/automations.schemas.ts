import { z } from 'zod';
import {
  eventNameSchema,
  STEP_CONFIGS,
  triggerConfigSchema as triggerSchema,
} from '../../shared/pure/automations/automation-config.ts';
import {
  ADDED_STEP_TYPES,
  EXECUTION_STATUSES,
  TRIGGER_TYPES,
} from '../../shared/pure/automations/automation-status.ts';
import { atMost } from '../../shared/pure/bounded-schema.ts';
import { jsonBytes } from '../../shared/pure/json-bytes.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { offsetPageQuery, offsetPageSchema, searchQuery, sortQuery } from '../http/pagination.ts';
import { statusQuery } from '../http/status-query.ts';
import { listedWorkflowSchema } from './automation.view.ts';
import { anyStepConfig, positionSchema } from './step-config.schemas.ts';
import { listedExecutionSchema } from './execution.view.ts';
import { model } from '../../shared/pure/model.ts';

const NAME_LENGTH_MAX = 100;
const DESCRIPTION_LENGTH_MAX = 500;

export const workflowListQuery = z.object({
  ...offsetPageQuery,
  search: searchQuery,
  status: z.enum(['active', 'disabled']).optional().catch(undefined),
  ...sortQuery(['createdAt', 'name', 'updatedAt']),
});

export const workflowListSchema = offsetPageSchema(listedWorkflowSchema, 'WorkflowPage').extend({
  failedExecutions: z.int().describe('How many executions of all workflows of the project have failed'),
});

const triggerConfigSchema = triggerSchema.meta({ id: 'NewTrigger', description: 'What starts it' });
const nameSchema = z.string().trim().min(1).max(NAME_LENGTH_MAX);
const descriptionSchema = z.string().max(DESCRIPTION_LENGTH_MAX).nullish();

/** The event that starts the workflow is named by `eventName` or in `triggerConfig`. */
export const createWorkflowBody = z
  .object({
    name: nameSchema,
    description: descriptionSchema,
    eventName: eventNameSchema.optional(),
    triggerConfig: triggerConfigSchema.optional(),
    allowReentry: z.boolean().optional(),
  })
  .superRefine((body, context) => {
    if (body.eventName !== undefined || body.triggerConfig) return;
    context.addIssue({
      code: 'invalid_type',
      expected: 'string',
      path: ['eventName'],
      message: 'The name of the event that starts the workflow is required',
      input: undefined,
    });
  });

export const patchWorkflowBody = z.object({
  name: nameSchema.optional(),
  description: descriptionSchema,
  triggerType: z.enum(TRIGGER_TYPES).optional(),
  triggerConfig: triggerConfigSchema.partial().meta({ id: 'TriggerPatch', description: 'What starts it' }).optional(),
  eventName: eventNameSchema.optional(),
  enabled: z.boolean().optional(),
  allowReentry: z.boolean().optional(),
});

/** Checked once the type of the step is known, because its shape depends on it. */
const configSchema = z.record(z.string(), z.unknown()).meta({ override: anyStepConfig });

const newStep = {
  name: nameSchema.optional().describe('The type when omitted'),
  position: positionSchema.default({ x: 0, y: 0 }),
  templateId: z.uuid().nullish().describe('The template of a SEND_EMAIL step'),
  autoConnect: z.boolean().default(false).describe('Add a transition to it from the newest step that has none'),
};

export const createStepBody = z.object({
  type: z.enum(ADDED_STEP_TYPES),
  config: configSchema.default({}),
  ...newStep,
});

function documentedStep(type: (typeof ADDED_STEP_TYPES)[number]) {
  const config: z.ZodType = STEP_CONFIGS[type];
  const words = type.split('_').map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`);
  const mayBeEmpty = config.safeParse({}).success;
  return model(`New${words.join('')}Step`, `A step of type ${type}`, {
    type: z.literal(type),
    config: mayBeEmpty ? config.optional() : config,
    ...newStep,
  });
}

const [firstType, ...otherTypes] = ADDED_STEP_TYPES;
/** The body by the type of the step, for the OpenAPI document: generated code then knows the config of each type. */
export const documentedStepBody = z.discriminatedUnion('type', [
  documentedStep(firstType),
  ...otherTypes.map(documentedStep),
]);

export const patchStepBody = z.object({
  name: nameSchema.optional(),
  config: configSchema.optional(),
  position: positionSchema.optional(),
  templateId: z.uuid().nullish(),
});

export const removeStepQuery = z.object({
  splice: z
    .stringbool()
    .optional()
    .catch(false)
    .meta({ override: { type: 'boolean' }, description: 'Join the steps before it to the one after it' }),
});

const branchSchema = z.enum(['yes', 'no', 'event', 'timeout']).nullish();

export const createTransitionBody = z
  .object({
    fromStepId: z.uuid(),
    toStepId: z.uuid(),
    branch: branchSchema.describe('yes or no from CONDITION, event or timeout from WAIT_FOR_EVENT'),
    condition: model('BranchCondition', 'Another place for branch', { branch: branchSchema })
      .nullish()
      .describe('Another place for branch'),
  })
  .transform(({ fromStepId, toStepId, branch, condition }) => ({
    fromStepId,
    toStepId,
    branch: branch ?? condition?.branch ?? null,
  }));

export const startExecutionBody = z.object({
  contactId: z.uuid(),
  // The count is bounded by the octets.
  context: atMost(LIMITS.executionContextBytes, z.record(z.string(), z.unknown()))
    .refine((context) => jsonBytes(context, LIMITS.executionContextBytes) <= LIMITS.executionContextBytes, {
      error: `At most ${LIMITS.executionContextBytes} bytes of JSON`,
      params: { code: 'too_big' },
    })
    .nullish(),
});

export const retryFailedBody = z.object({
  stepId: z.uuid().nullish().describe('Only executions that failed at this step'),
});

export const executionListQuery = z.object({
  ...offsetPageQuery,
  status: statusQuery(EXECUTION_STATUSES),
  stepId: z.uuid().optional().describe('Only those at this step; `total` counts all steps'),
});

export const executionListSchema = offsetPageSchema(listedExecutionSchema, 'OffsetPageOfExecutions')
  .extend({ executions: z.array(listedExecutionSchema).describe('Another name for `data`') })
  .meta({ id: 'ExecutionPage', description: 'A page of executions, and how many there are in all' });

export const workflowFieldsSchema = z.object({
  fields: z.array(
    model('WorkflowField', 'A field that a CONDITION step can read', {
      field: z.string(),
      type: z.enum(['string', 'number', 'boolean', 'date']),
      source: z.enum(['contact', 'event']),
    }),
  ),
});
