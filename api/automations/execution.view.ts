import { z } from 'zod';
import {
  EXECUTION_STATUSES,
  STEP_EXECUTION_STATUSES,
  STEP_TYPES,
} from '../../shared/pure/automations/automation-status.ts';
import { referenceSchema } from '../http/references.ts';
import { executionWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import type { Execution, StepExecution } from '../../shared/domain/automations/executions.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

const executionFields = {
  id: z.uuid(),
  workflowId: z.uuid(),
  contactId: z.uuid(),
  status: z.enum(EXECUTION_STATUSES),
  currentStepId: z.uuid().nullable(),
  exitReason: z.string().nullable(),
  context: z.record(z.string(), z.unknown()),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  temporalWorkflowId: z.string().describe('The execution in Temporal'),
  temporalRunId: z.string().nullable().describe('Null until its first step is done'),
};

export const executionSchema = model('WorkflowExecution', 'A run of an automation for one contact', executionFields);

/** An execution as callers see it. */
export const executionView = viewOf(executionSchema, ({ id, automationId }: Execution) => ({
  workflowId: automationId,
  temporalWorkflowId: executionWorkflowId(id),
}));

const stepRefSchema = model('ExecutedStep', 'A step by id, name and type', {
  id: z.uuid(),
  name: z.string(),
  type: z.enum(STEP_TYPES),
});
const contactRefSchema = model('ExecutionContact', 'The contact of an execution', { id: z.uuid(), email: z.string() });

function contactRef(execution: Execution): z.infer<typeof contactRefSchema> | null {
  return execution.contactEmail === null ? null : { id: execution.contactId, email: execution.contactEmail };
}

export const listedExecutionSchema = model('ListedExecution', 'An execution in a list', {
  ...executionFields,
  contact: contactRefSchema.nullable().describe('Null when the contact has been deleted'),
  currentStep: stepRefSchema.nullable(),
});

export function listedExecutionView(execution: Execution): z.infer<typeof listedExecutionSchema> {
  return { ...executionView(execution), contact: contactRef(execution), currentStep: execution.currentStep };
}

const stepExecutionSchema = model('StepExecution', 'What became of a step', {
  id: z.uuid(),
  stepId: z.uuid(),
  step: stepRefSchema,
  status: z.enum(STEP_EXECUTION_STATUSES),
  output: z.record(z.string(), z.unknown()).nullable(),
  error: z.string().nullable(),
  startedAt: z.iso.datetime(),
  completedAt: z.iso.datetime().nullable(),
});

const stepExecutionView = viewOf(stepExecutionSchema);

export const executionDetailSchema = model('WorkflowExecutionDetail', 'An execution with what became of each step', {
  ...executionFields,
  workflow: referenceSchema,
  contact: contactRefSchema.nullable(),
  currentStep: stepRefSchema.nullable(),
  stepExecutions: z.array(stepExecutionSchema),
});

/** An execution with what became of each of its steps. */
export function executionDetailView(
  execution: Execution,
  { id, name }: { id: string; name: string },
  records: StepExecution[],
): z.infer<typeof executionDetailSchema> {
  return { ...listedExecutionView(execution), workflow: { id, name }, stepExecutions: records.map(stepExecutionView) };
}
