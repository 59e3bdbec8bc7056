import { z } from 'zod';
import { filterTreeSchema, STEP_CONFIGS } from '../../shared/pure/automations/automation-config.ts';
import { STEP_TYPES, type StepType } from '../../shared/pure/automations/automation-status.ts';
import { model } from '../../shared/pure/model.ts';

export const positionSchema = model('StepPosition', 'Where an editor draws the step', { x: z.number(), y: z.number() });

const refOf = (type: StepType) => ({ $ref: `#/components/schemas/${String(STEP_CONFIGS[type].meta()?.id)}` as const });

/** Lists the possible forms of a `config` in the OpenAPI document, for bodies without a step type. */
export function anyStepConfig({ jsonSchema }: { jsonSchema: object }): void {
  for (const key of ['type', 'propertyNames', 'additionalProperties']) Reflect.deleteProperty(jsonSchema, key);
  Object.assign(jsonSchema, { anyOf: STEP_TYPES.map(refOf) });
}

/** The schemas of step configurations by their names in the OpenAPI document. */
export const STEP_CONFIG_COMPONENTS: Record<string, z.ZodType> = {
  FilterTree: filterTreeSchema,
  ...Object.fromEntries(STEP_TYPES.map((type) => [String(STEP_CONFIGS[type].meta()?.id), STEP_CONFIGS[type]])),
};
