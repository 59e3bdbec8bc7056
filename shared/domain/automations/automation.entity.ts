import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { StoredConfig } from '../../pure/automations/automation-config.ts';
import { BRANCHES, STEP_TYPES, TRIGGER_TYPES } from '../../pure/automations/automation-status.ts';
import { baseProperties } from '../../database/base-properties.ts';

/**
 * An automation: the API calls it a workflow. Callers change its steps and transitions; executions run snapshots of
 * them.
 */
export const AutomationEntity = defineEntity({
  name: 'Automation',
  tableName: 'automation',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    name: p.text(),
    description: p.text().nullable(),
    enabled: p.boolean().default(false),
    triggerType: p.enum(TRIGGER_TYPES).default('EVENT'),
    /** The name of the event that starts it. */
    triggerEvent: p.text(),
    /** Whether events of machines do not start it. */
    triggerHumanOnly: p.boolean().default(false),
    allowReentry: p.boolean().default(false),
    /** The snapshot that new executions get; kept up to date while the automation is enabled. */
    graphId: p.uuid().nullable(),
  },
});
export type Automation = InferEntity<typeof AutomationEntity>;

export const AutomationStepEntity = defineEntity({
  name: 'AutomationStep',
  tableName: 'automation_step',
  properties: {
    ...baseProperties,
    automationId: p.uuid(),
    type: p.enum(STEP_TYPES),
    name: p.text(),
    positionX: p.float().default(0),
    positionY: p.float().default(0),
    config: p.json().$type<StoredConfig>(),
    templateId: p.uuid().nullable(),
  },
});
export type AutomationStep = InferEntity<typeof AutomationStepEntity>;

export const AutomationTransitionEntity = defineEntity({
  name: 'AutomationTransition',
  tableName: 'automation_transition',
  properties: {
    ...baseProperties,
    automationId: p.uuid(),
    fromStepId: p.uuid(),
    toStepId: p.uuid(),
    branch: p.enum(BRANCHES).nullable(),
  },
});
export type AutomationTransition = InferEntity<typeof AutomationTransitionEntity>;
