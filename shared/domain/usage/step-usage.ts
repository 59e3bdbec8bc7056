import type { StepType } from '../../pure/automations/automation-status.ts';
import { readLargeRows } from '../../database/large-rows.ts';
import { literalList, sql, type Em } from '../../database/sql.ts';
import { pick, tables, type RowOf } from '../../database/tables.ts';

const AUTOMATION = pick(tables.automation, 'id', 'name');
export type AutomationRef = RowOf<typeof AUTOMATION>;

const USED_STEP = { ...pick(tables.automationStep, 'type', 'config'), triggerEvent: tables.automation.triggerEvent };
export type UsedStep = RowOf<typeof USED_STEP>;

/** The automations of a project with a step of these types for which `matches` is true, oldest first. */
export async function findAutomationsOfSteps(
  em: Em,
  projectId: string,
  types: readonly StepType[],
  matches: (step: UsedStep) => boolean,
): Promise<AutomationRef[]> {
  const found = new Set<string>();
  return readLargeRows(
    em,
    sql`
      select a.id, a.name, a.trigger_event as "triggerEvent", s.type, s.config
      from automation a join automation_step s on s.automation_id = a.id
      where a.project_id = ${projectId} and s.type in ${literalList(types)} order by a.created_at, a.id`,
    { ...AUTOMATION, ...USED_STEP },
    ({ id, name, ...step }) => {
      if (found.has(id) || !matches(step)) return undefined;
      found.add(id);
      return { id, name };
    },
  );
}
