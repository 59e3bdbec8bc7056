import { tooLarge } from '../../pure/app-error.ts';
import { walkFilters, type FilterCondition } from '../../pure/filters/filter-condition.ts';
import { filterTarget, type FilterTarget } from '../../pure/filters/filter-target.ts';
import { jsonBytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';

/** The path of a filter as field errors name it: `groups[0].filters[2]` becomes `groups.0.filters.2`. */
export function dotPath(path: string): string {
  return path.replaceAll(/\[(\d+)\]/g, '.$1');
}

/** What a filter costs for each contact. A path of one or two keys is looked up; every way to read a longer one is tried. */
export function filterCost(target: FilterTarget): number {
  const keys = target.kind === 'data' ? target.path.split('.').length : 1;
  return keys <= 2 ? 1 : keys * keys;
}

/**
 * Checks what evaluating a condition costs and what storing it takes. Where a condition is written only: one that was
 * stored before can be read on.
 * @throws AppError VALIDATION_ERROR naming the filter
 */
export function assertFilterSize(condition: FilterCondition, rootPath: string): void {
  let cost = 0;
  walkFilters(
    condition,
    (filter, path) => {
      const target = filterTarget(filter);
      cost += filterCost(target);
      if (cost > LIMITS.filterCost) {
        throw tooLarge(
          `${dotPath(path)}.field`,
          `The paths of all filters together cost more than ${LIMITS.filterCost}: one or two keys cost 1, more keys their square`,
        );
      }
      if (target.kind === 'event' && target.name.length > LIMITS.eventNameLength) {
        throw tooLarge(
          `${dotPath(path)}.field`,
          `The name of an event has at most ${LIMITS.eventNameLength} characters`,
        );
      }
      if (jsonBytes(filter.value ?? null, LIMITS.filterValueBytes) > LIMITS.filterValueBytes) {
        throw tooLarge(`${dotPath(path)}.value`, `A value may have ${LIMITS.filterValueBytes} bytes of JSON`);
      }
    },
    `${rootPath}.`,
  );
  if (jsonBytes(condition, LIMITS.filterConditionBytes) > LIMITS.filterConditionBytes) {
    throw tooLarge(rootPath, `A condition may have ${LIMITS.filterConditionBytes} bytes of JSON`);
  }
}
