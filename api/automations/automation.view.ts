import { z } from 'zod';
import { triggerConfigOf } from '../../shared/pure/automations/automation-config.ts';
import { STEP_TYPES, TRIGGER_TYPES, BRANCHES } from '../../shared/pure/automations/automation-status.ts';
import { referenceSchema } from '../http/references.ts';
import { anyStepConfig, positionSchema } from './step-config.schemas.ts';
import type { AutomationDefinition } from '../../shared/domain/automations/automation-graphs.ts';
import type { Automation, AutomationStep } from '../../shared/domain/automations/automation.entity.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

const workflowFields = {
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  triggerType: z.enum(TRIGGER_TYPES),
  triggerConfig: model('WorkflowTrigger', 'What starts it', {
    eventName: z.string(),
    humanOnly: z.literal(true).optional(),
  }),
  allowReentry: z.boolean(),
  projectId: z.uuid(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};

export const workflowSchema = model('Workflow', 'An automation', workflowFields);

/** An automation as callers see it. The API calls it a workflow. */
export const workflowView = viewOf(workflowSchema, (automation: Automation) => ({
  triggerConfig: triggerConfigOf(automation),
}));

export const listedWorkflowSchema = model('ListedWorkflow', 'An automation in a list', {
  ...workflowFields,
  _count: model('WorkflowCounts', 'The number of its steps and of its executions', {
    steps: z.int(),
    executions: z.int(),
  }),
  failedExecutions: z.int().describe('How many of its executions have failed'),
});

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

export const stepSchema = model('WorkflowStep', 'A step of an automation', stepFields);

/** A step as callers see it. */
export const stepView = viewOf(stepSchema, ({ positionX, positionY, automationId }: AutomationStep) => ({
  position: { x: positionX, y: positionY },
  workflowId: automationId,
}));

export const transitionSchema = model('WorkflowTransition', 'A transition from one step to another', {
  id: z.uuid(),
  fromStepId: z.uuid(),
  toStepId: z.uuid(),
  branch: z.enum(BRANCHES).nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** A transition as callers see it. */
export const transitionView = viewOf(transitionSchema);

const connectedStepSchema = model('ConnectedStep', 'A step with its template and its transitions', {
  ...stepFields,
  template: referenceSchema.nullable(),
  outgoingTransitions: z.array(transitionSchema),
  incomingTransitions: z.array(transitionSchema),
});

export const definitionSchema = model('WorkflowDefinition', 'An automation with its steps and transitions', {
  ...workflowFields,
  steps: z.array(connectedStepSchema),
  transitions: z.array(transitionSchema),
});

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
