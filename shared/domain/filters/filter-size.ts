import { tooLarge } from '../../pure/app-error.ts';
import { walkFilters, type Filter, type FilterCondition } from '../../pure/filters/filter-condition.ts';
import { filterTarget, type FilterTarget } from '../../pure/filters/filter-target.ts';
import { parseIsoInstant } from '../../pure/filters/iso-instant.ts';
import { jsonBytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';

/** The path of a filter as field errors name it: `groups[0].filters[2]` becomes `groups.0.filters.2`. */
export function dotPath(path: string): string {
  return path.replaceAll(/\[(\d+)\]/g, '.$1');
}

/** The cost, in comparisons, of reading a text of a contact as a moment, and of searching a text for another. */
const MOMENT_COST = 30;
const SEARCH_COST = 4;

/**
 * What a filter costs for each contact, in comparisons with a value under one or two keys: about 0.15 µs each of a busy
 * core, whether the contact holds 1 kB, 4 kB or (0.25 µs) 64 kB, once it has been read, which takes 2 to 15 µs, or 60 µs
 * for 64 kB. Processor time of PostgreSQL 18, over 100 to 1,000 filters of each kind that all contacts fail: a date near
 * the stored ones 4 µs, a text that is looked for 0.5 µs, a path of 8 keys at most 8 µs, of 20 keys 45 µs. For 100,000
 * contacts a condition of 60 comparisons, or of two dates, takes 1 s of a core, a thousand comparisons 15 s, and the
 * dearest that is allowed some 75 s: a statement ends before that, and the segment is marked with the reason.
 */
export function filterCost(target: FilterTarget, filter: Filter): number {
  if (target.kind !== 'data') return 1;
  const keys = target.path.split('.').length;
  return (keys <= 2 ? 1 : keys * keys) + comparisonCost(filter);
}

/** The cost of comparing the value, in addition to reading it. */
function comparisonCost({ operator, value }: Filter): number {
  if (operator === 'within' || operator === 'olderThan') return MOMENT_COST;
  if (typeof value !== 'string') return 0;
  if (operator === 'contains' || operator === 'notContains') return SEARCH_COST;
  return parseIsoInstant(value) === undefined ? 0 : MOMENT_COST;
}

/**
 * Checks the cost of evaluating a condition and the size of storing it. Only writes are checked: a condition that is
 * already stored can still be read.
 * @throws AppError VALIDATION_ERROR naming the filter
 */
export function assertFilterSize(condition: FilterCondition, rootPath: string): void {
  let cost = 0;
  walkFilters(
    condition,
    (filter, path) => {
      const target = filterTarget(filter);
      cost += filterCost(target, filter);
      if (cost > LIMITS.filterCost) {
        throw tooLarge(
          `${dotPath(path)}.field`,
          `The filters together cost more than ${LIMITS.filterCost}: each costs 1, a path of more than two keys their square, a text that is looked for ${SEARCH_COST} more, a date ${MOMENT_COST} more`,
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
