import { z } from 'zod';
import { eventNameSchema } from '../../shared/pure/automations/automation-config.ts';
import {
  ADDED_STEP_TYPES,
  EXECUTION_STATUSES,
  TRIGGER_TYPES,
} from '../../shared/pure/automations/automation-status.ts';
import { jsonBytes } from '../../shared/pure/json-bytes.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { offsetPageQuery, offsetPageSchema, searchQuery, sortQuery } from '../http/pagination.ts';
import { listedWorkflowSchema } from './automation.view.ts';
import { listedExecutionSchema } from './execution.view.ts';

const NAME_LENGTH_MAX = 100;
const DESCRIPTION_LENGTH_MAX = 500;

export const workflowListQuery = z.object({
  ...offsetPageQuery,
  search: searchQuery,
  status: z.enum(['active', 'disabled']).optional().catch(undefined),
  ...sortQuery(['createdAt', 'name', 'updatedAt']),
});

export const workflowListSchema = offsetPageSchema(listedWorkflowSchema);

const triggerConfigSchema = z.object({ eventName: eventNameSchema });
const nameSchema = z.string().trim().min(1).max(NAME_LENGTH_MAX);
const descriptionSchema = z.string().max(DESCRIPTION_LENGTH_MAX).nullish();

/** The name of the event stands beside the other fields or in `triggerConfig`. */
export const createWorkflowBody = z
  .object({
    name: nameSchema,
    description: descriptionSchema,
    eventName: eventNameSchema.optional(),
    triggerConfig: triggerConfigSchema.optional(),
  })
  .superRefine((body, context) => {
    if (body.eventName !== undefined || body.triggerConfig) return;
    context.addIssue({
      code: 'invalid_type',
      expected: 'string',
      path: ['eventName'],
      message: 'Required: the name of the event that starts the workflow',
      input: undefined,
    });
  });

export const patchWorkflowBody = z.object({
  name: nameSchema.optional(),
  description: descriptionSchema,
  triggerType: z.enum(TRIGGER_TYPES).optional(),
  triggerConfig: triggerConfigSchema.partial().optional(),
  eventName: eventNameSchema.optional(),
  enabled: z.boolean().optional(),
  allowReentry: z.boolean().optional(),
});

const positionSchema = z.object({ x: z.number(), y: z.number() });
/** Its shape depends on the type of the step, so it is checked once that is known. */
const configSchema = z.record(z.string(), z.unknown()).meta({ description: 'Depends on the type of the step' });

export const createStepBody = z.object({
  type: z.enum(ADDED_STEP_TYPES),
  name: nameSchema.optional().meta({ description: 'The type when omitted' }),
  config: configSchema.default({}),
  position: positionSchema.default({ x: 0, y: 0 }),
  templateId: z.uuid().nullish(),
  autoConnect: z.boolean().default(false).meta({ description: 'Lead to it from the newest step that leads nowhere' }),
});

export const patchStepBody = z.object({
  name: nameSchema.optional(),
  config: configSchema.optional(),
  position: positionSchema.optional(),
  templateId: z.uuid().nullish(),
});

export const stepParams = z.object({ id: z.uuid(), stepId: z.uuid() });

export const removeStepQuery = z.object({ splice: z.stringbool().optional().catch(false) });

const branchSchema = z.enum(['yes', 'no', 'event', 'timeout']).nullish();

export const createTransitionBody = z
  .object({
    fromStepId: z.uuid(),
    toStepId: z.uuid(),
    branch: branchSchema.meta({ description: 'yes or no from CONDITION, event or timeout from WAIT_FOR_EVENT' }),
    condition: z.object({ branch: branchSchema }).nullish().meta({ description: 'Another place for branch' }),
  })
  .transform(({ fromStepId, toStepId, branch, condition }) => ({
    fromStepId,
    toStepId,
    branch: branch ?? condition?.branch ?? null,
  }));

export const transitionParams = z.object({ id: z.uuid(), transitionId: z.uuid() });

export const startExecutionBody = z.object({
  contactId: z.uuid(),
  context: z
    .record(z.string(), z.unknown())
    .refine((context) => jsonBytes(context, LIMITS.executionContextBytes) <= LIMITS.executionContextBytes, {
      error: `At most ${LIMITS.executionContextBytes} bytes of JSON`,
      params: { code: 'too_big' },
    })
    .nullish(),
});

export const executionListQuery = z.object({
  ...offsetPageQuery,
  status: z
    .string()
    .optional()
    .meta({ description: `One of ${EXECUTION_STATUSES.join(', ')}` }),
});

export const executionListSchema = offsetPageSchema(listedExecutionSchema);

export const executionParams = z.object({ id: z.uuid(), executionId: z.uuid() });

export const workflowFieldsSchema = z.object({
  fields: z.array(
    z.object({
      field: z.string(),
      type: z.enum(['string', 'number', 'boolean', 'date']),
      source: z.enum(['contact', 'event']),
    }),
  ),
});
