import { tooLarge } from '../../pure/app-error.ts';
import { walkFilters, type Filter, type FilterCondition } from '../../pure/filters/filter-condition.ts';
import { filterTarget, type FilterTarget } from '../../pure/filters/filter-target.ts';
import { parseIsoInstant } from '../../pure/filters/iso-instant.ts';
import { jsonBytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';

/** The path of a filter in the form of field errors: `groups[0].filters[2]` becomes `groups.0.filters.2`. */
export function dotPath(path: string): string {
  return path.replaceAll(/\[(\d+)\]/g, '.$1');
}

/** The costs of filters that take longer than a comparison: to search a text, to parse a date, or to look up rows. */
const SEARCH_COST = 3;
const MOMENT_COST = 40;
export const LOOK_UP_COST = 20;
/** The emails of a contact are read one by one, until one matches. */
const EMAILS_COST = 60;

/**
 * The cost of a filter for each contact, in tenths of a microsecond of a core. Reading the contact comes on top: 2 to
 * 15 µs, or 60 µs for 64 kB. These are processor times of PostgreSQL 18, over 100 to 1,000 filters of each kind that
 * all contacts fail: a value 0.05 to 0.15 µs, a search in a text of 300 characters 0.3 µs, a date near the stored ones
 * 4 µs, a path of 8 keys 4 µs, of 20 keys 20 µs, a look-up of an event or a member 1 to 2 µs. So the most expensive
 * condition takes about 10 s of a core for 100,000 contacts.
 */
export function filterCost(target: FilterTarget, filter: Filter): number {
  switch (target.kind) {
    case 'data':
      return pathCost(target.path) + comparisonCost(filter);
    case 'topic':
      return LOOK_UP_COST;
    case 'event':
      return lookUps(filter) * LOOK_UP_COST;
    case 'emailActivity':
      return lookUps(filter) * EMAILS_COST;
    case 'segment':
      // `inlinedSize` has the cost: either its members are looked up, or its filters are evaluated.
      return 0;
    default:
      return 1;
  }
}

/** Each dot of a path may separate two keys or belong to one. For more than two keys all readings are tried. */
function pathCost(path: string): number {
  const keys = path.split('.').length;
  return keys <= 2 ? 0 : 10 + Math.ceil((keys * keys) / 2);
}

/** `triggeredOlderThan` means "has happened, but not since then", which needs two look-ups. */
function lookUps({ operator }: Filter): number {
  return operator === 'triggeredOlderThan' ? 2 : 1;
}

function comparisonCost({ operator, value }: Filter): number {
  if (operator === 'within' || operator === 'olderThan') return MOMENT_COST;
  if (typeof value !== 'string') return 1;
  if (operator === 'contains' || operator === 'notContains') return SEARCH_COST;
  return parseIsoInstant(value) === undefined ? 1 : MOMENT_COST;
}

/**
 * Checks the cost of evaluating a condition and the size of storing it. Only writes call it, so that a stored condition
 * can still be read.
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
          `The filters together cost more than ${LIMITS.filterCost}: each costs 1, a text that is searched ${SEARCH_COST}, an event or a topic ${LOOK_UP_COST}, a date ${MOMENT_COST}, an activity of emails ${EMAILS_COST}, a path of more than two keys half their square and 10 more`,
        );
      }
      if (target.kind === 'event' && target.name.length > LIMITS.eventNameLength) {
        throw tooLarge(
          `${dotPath(path)}.field`,
          `The name of an event has at most ${LIMITS.eventNameLength} characters`,
        );
      }
      if (jsonBytes(filter.value ?? null, LIMITS.filterValueBytes) > LIMITS.filterValueBytes) {
        throw tooLarge(`${dotPath(path)}.value`, `A value may have at most ${LIMITS.filterValueBytes} bytes of JSON`);
      }
    },
    `${rootPath}.`,
  );
  if (jsonBytes(condition, LIMITS.filterConditionBytes) > LIMITS.filterConditionBytes) {
    throw tooLarge(rootPath, `A condition may have at most ${LIMITS.filterConditionBytes} bytes of JSON`);
  }
}
