import { z } from 'zod';
import { triggerConfigOf } from '../../shared/pure/automations/automation-config.ts';
import { STEP_TYPES, TRIGGER_TYPES, BRANCHES } from '../../shared/pure/automations/automation-status.ts';
import { referenceSchema } from '../http/references.ts';
import { anyStepConfig, positionSchema } from './step-config.schemas.ts';
import type { AutomationDefinition } from '../../shared/domain/automations/automation-graphs.ts';
import type {
  Automation,
  AutomationStep,
  AutomationTransition,
} from '../../shared/domain/automations/automation.entity.ts';

const workflowFields = {
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  triggerType: z.enum(TRIGGER_TYPES),
  triggerConfig: z
    .object({ eventName: z.string(), humanOnly: z.literal(true).optional() })
    .meta({ id: 'WorkflowTrigger', description: 'What starts it' }),
  allowReentry: z.boolean(),
  projectId: z.uuid(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};

export const workflowSchema = z.object(workflowFields).meta({ id: 'Workflow', description: 'An automation' });

/** An automation as callers see it. The API calls it a workflow. */
export function workflowView(automation: Automation): z.infer<typeof workflowSchema> {
  return {
    id: automation.id,
    name: automation.name,
    description: automation.description ?? null,
    enabled: automation.enabled,
    triggerType: automation.triggerType,
    triggerConfig: triggerConfigOf(automation),
    allowReentry: automation.allowReentry,
    projectId: automation.projectId,
    createdAt: automation.createdAt.toISOString(),
    updatedAt: automation.updatedAt.toISOString(),
  };
}

export const listedWorkflowSchema = z
  .object({
    ...workflowFields,
    _count: z
      .object({ steps: z.int(), executions: z.int() })
      .meta({ id: 'WorkflowCounts', description: 'The number of its steps and of its executions' }),
    failedExecutions: z.int().meta({ description: 'How many of its executions have failed' }),
  })
  .meta({ id: 'ListedWorkflow', description: 'An automation in a list' });

const stepFields = {
  id: z.uuid(),
  type: z.enum(STEP_TYPES),
  name: z.string(),
  position: positionSchema,
  config: z.record(z.string(), z.unknown()).meta({ override: anyStepConfig }),
  workflowId: z.uuid(),
  templateId: z.uuid().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};

export const stepSchema = z.object(stepFields).meta({ id: 'WorkflowStep', description: 'A step of an automation' });

/** A step as callers see it. */
export function stepView(step: AutomationStep): z.infer<typeof stepSchema> {
  return {
    id: step.id,
    type: step.type,
    name: step.name,
    position: { x: step.positionX, y: step.positionY },
    config: step.config,
    workflowId: step.automationId,
    templateId: step.templateId ?? null,
    createdAt: step.createdAt.toISOString(),
    updatedAt: step.updatedAt.toISOString(),
  };
}

export const transitionSchema = z
  .object({
    id: z.uuid(),
    fromStepId: z.uuid(),
    toStepId: z.uuid(),
    branch: z.enum(BRANCHES).nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'WorkflowTransition', description: 'A transition from one step to another' });

/** A transition as callers see it. */
export function transitionView(transition: AutomationTransition): z.infer<typeof transitionSchema> {
  return {
    id: transition.id,
    fromStepId: transition.fromStepId,
    toStepId: transition.toStepId,
    branch: transition.branch ?? null,
    createdAt: transition.createdAt.toISOString(),
    updatedAt: transition.updatedAt.toISOString(),
  };
}

const connectedStepSchema = z
  .object({
    ...stepFields,
    template: referenceSchema.nullable(),
    outgoingTransitions: z.array(transitionSchema),
    incomingTransitions: z.array(transitionSchema),
  })
  .meta({ id: 'ConnectedStep', description: 'A step with its template and its transitions' });

export const definitionSchema = z
  .object({ ...workflowFields, steps: z.array(connectedStepSchema), transitions: z.array(transitionSchema) })
  .meta({ id: 'WorkflowDefinition', description: 'An automation with its steps and transitions' });

/** An automation with its steps and transitions. @param templates the names of the templates of its steps, by id */
export function definitionView(
  { automation, steps, transitions }: AutomationDefinition,
  templates: ReadonlyMap<string, string>,
): z.infer<typeof definitionSchema> {
  const views = transitions.map(transitionView);
  const outgoing = Map.groupBy(views, (transition) => transition.fromStepId);
  const incoming = Map.groupBy(views, (transition) => transition.toStepId);
  return {
    ...workflowView(automation),
    steps: steps.map((step) => {
      const name = step.templateId ? templates.get(step.templateId) : undefined;
      return {
        ...stepView(step),
        template: step.templateId && name !== undefined ? { id: step.templateId, name } : null,
        outgoingTransitions: outgoing.get(step.id) ?? [],
        incomingTransitions: incoming.get(step.id) ?? [],
      };
    }),
    transitions: views,
  };
}
