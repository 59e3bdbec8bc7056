import { LIMITS } from '../../pure/limits.ts';
import type { Em } from '../../database/em.ts';
import { readLargeRows } from '../../database/large-rows.ts';
import type { SqlFragment } from '../../database/sql.ts';

export interface AutomationRef {
  id: string;
  name: string;
}

type Matches<Step> = (step: Step) => boolean;

/**
 * The automations with a step for which `matches` is true, in the order of `steps`.
 * @param steps a select of steps with the id and the name of their automation
 */
export async function findAutomationsOfSteps<Step extends AutomationRef>(
  em: Em,
  steps: SqlFragment,
  matches: Matches<Step>,
): Promise<AutomationRef[]> {
  const found = new Set<string>();
  return readLargeRows(
    em,
    steps,
    (step: Step) => {
      const { id, name } = step;
      if (found.has(id) || !matches(step)) return undefined;
      found.add(id);
      return { id, name };
    },
    LIMITS.listedNames,
  );
}
