import { badRequest, tooLarge } from '../../pure/app-error.ts';
import {
  walkFilters,
  type Filter,
  type FilterCondition,
  type FilterOperator,
} from '../../pure/filters/filter-condition.ts';
import {
  filterTarget,
  STANDARD_FIELDS,
  type FilterTarget,
  type StandardField,
} from '../../pure/filters/filter-target.ts';
import { LIMITS } from '../../pure/limits.ts';
import { dotPath, filterCost, LOOK_UP_COST } from './filter-size.ts';
import { parseIsoInstant } from '../../pure/filters/iso-instant.ts';
import { chainLength, findSegmentCycle, inlinedSegment, type SegmentForFilter } from './segment-references.ts';

/** What a condition can read: the contact, or also the context of an execution, in a step of an automation. */
export type FilterScope = 'contact' | 'execution';

/**
 * Inlining live segments multiplies filters. With more, a statement would have more parameters than PostgreSQL allows.
 */
export const INLINED_FILTERS_MAX = 3_000;

const EQUALITY: FilterOperator[] = ['equals', 'notEquals'];
const PRESENCE: FilterOperator[] = ['exists', 'notExists'];
const CONTAINMENT: FilterOperator[] = ['contains', 'notContains'];
const ORDER: FilterOperator[] = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'];
const WINDOW: FilterOperator[] = ['within', 'olderThan'];

type FieldType = (typeof STANDARD_FIELDS)[StandardField];
const MOMENT: FilterOperator[] = [...EQUALITY, ...PRESENCE, ...ORDER];
const OPERATORS_OF: Record<FieldType, readonly FilterOperator[]> = {
  text: [...EQUALITY, ...PRESENCE, ...CONTAINMENT, ...ORDER],
  switch: [...EQUALITY, ...PRESENCE],
  past: [...MOMENT, ...WINDOW],
  // A window is of the past.
  future: MOMENT,
};

const INSTANT_RULE = {
  holds: isIsoText,
  message: 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time with an offset',
};
const VALUE_RULES: Record<FieldType, { holds: (value: unknown) => boolean; message: string }> = {
  text: { holds: (value) => typeof value === 'string', message: 'must be a string' },
  switch: { holds: (value) => typeof value === 'boolean', message: 'must be true or false' },
  past: INSTANT_RULE,
  future: INSTANT_RULE,
};

function isIsoText(value: unknown): boolean {
  return typeof value === 'string' && parseIsoInstant(value) !== undefined;
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** @param name how the condition names the field */
function assertStandardField(field: StandardField, filter: Filter, path: string, name: string = field): void {
  const { operator, value } = filter;
  const type = STANDARD_FIELDS[field];
  if (!OPERATORS_OF[type].includes(operator)) {
    throw badRequest(`${path}.operator: ${operator} cannot be applied to the field ${name}`);
  }
  if (PRESENCE.includes(operator) || WINDOW.includes(operator)) return;
  const rule = VALUE_RULES[type];
  if (!rule.holds(value)) throw badRequest(`${path}.value: ${rule.message} for the field ${name}`);
}

function assertJsonField(filter: Filter, path: string): void {
  const { operator, value } = filter;
  if (CONTAINMENT.includes(operator) && !isScalar(value)) {
    throw badRequest(`${path}.value: must be a string, a number, true or false for ${operator}`);
  }
  if (ORDER.includes(operator) && typeof value !== 'string' && typeof value !== 'number') {
    throw badRequest(`${path}.value: must be a number or a string for ${operator}`);
  }
}

/** A target that the compiler can turn into SQL. */
type KnownTarget = Exclude<FilterTarget, { kind: 'unknown' }>;

/**
 * Reads one filter and checks that its operator and value fit the field.
 * @throws AppError BAD_REQUEST naming `path` and the faulty part
 */
export function assertFilter(filter: Filter, path: string, scope: FilterScope): KnownTarget {
  const target = filterTarget(filter);
  if (target.kind === 'unknown') throw badRequest(`${path}.${target.part}: ${target.reason}`);
  if (target.kind === 'context' && scope === 'contact') {
    throw badRequest(
      `${path}.operator: ${filter.operator} cannot be applied to an event; use triggered, notTriggered or another operator for events`,
    );
  }
  if (target.kind === 'standard') assertStandardField(target.field, filter, path);
  if (target.kind === 'topic') assertStandardField('subscribed', filter, path, `topic.${target.key}`);
  if (target.kind === 'data' || target.kind === 'context') assertJsonField(filter, path);
  return target;
}

export interface FilterSemanticsOptions {
  /** Every segment that the condition can reach, as `loadReferencedSegments` returns them. */
  segments: ReadonlyMap<string, SegmentForFilter>;
  /** By default `contact`. */
  scope?: FilterScope;
  /** The segment that gets this condition; a path back to it is a cycle. */
  segmentId?: string;
  /**
   * The number of segments in the longest chain that ends in this condition: its own segment, and the segments above.
   */
  segmentsAbove?: number;
  /** The name of the condition in messages; by default `condition`. */
  rootPath?: string;
}

/**
 * Checks the meaning of a condition: every field exists for its operator, values have the right type, and referenced
 * segments exist, form no cycle and are small enough to be evaluated.
 * @throws AppError BAD_REQUEST whose message begins with the path of the fault
 * (`condition.groups[0].filters[2].value`), VALIDATION_ERROR naming the path where a limit is exceeded
 */
export function assertFilterSemantics(condition: FilterCondition, options: FilterSemanticsOptions): void {
  const { segments, scope = 'contact', segmentId, segmentsAbove = 0, rootPath = 'condition' } = options;
  const sizes = new Map<string, InlinedSize>();
  const lengths = new Map<string, number>();
  const total: InlinedSize = { filters: 0, cost: 0 };
  const conditionOf = (id: string) => segments.get(id)?.condition;
  walkFilters(
    condition,
    (filter, path) => {
      const target = assertFilter(filter, path, scope);
      total.filters += 1;
      total.cost += filterCost(target, filter);
      if (target.kind !== 'segment') return;
      const part = filter.field.startsWith('segment.') ? 'field' : 'value';
      // The segment's own id may be new, so a reference to itself is a cycle before it is an unknown segment.
      const cycle = segmentId === undefined ? undefined : findSegmentCycle(segmentId, [target.segmentId], conditionOf);
      if (cycle !== undefined) {
        throw badRequest(`${path}.${part}: the segment would depend on itself (${cycle.join(' → ')})`);
      }
      if (!segments.has(target.segmentId))
        throw badRequest(`${path}.${part}: no segment has the id ${target.segmentId}`);
      const inlined = inlinedSize(target.segmentId, segments, sizes);
      total.filters += inlined.filters;
      total.cost += inlined.cost;
      if (total.filters > INLINED_FILTERS_MAX) {
        throw badRequest(`${path}: the segments it refers to have more than ${INLINED_FILTERS_MAX} filters together`);
      }
      if (segmentsAbove + chainLength(target.segmentId, conditionOf, lengths) > LIMITS.segmentChain) {
        throw tooLarge(
          `${dotPath(path)}.${part}`,
          `${path}.${part}: at most ${LIMITS.segmentChain} segments may refer to one another in a chain`,
        );
      }
      if (total.cost > LIMITS.inlinedFilterCost) {
        throw tooLarge(
          `${dotPath(path)}.${part}`,
          `${path}: together with the segments it refers to, the filters cost too much to evaluate`,
        );
      }
    },
    `${rootPath}.`,
  );
}

/** What is evaluated for a condition, with the segments that are evaluated within it. */
export interface InlinedSize {
  filters: number;
  /** As `filterCost` counts. */
  cost: number;
}

/** Creates a function that measures conditions of segments; it measures each segment once. */
export function createSizes(
  segments: ReadonlyMap<string, SegmentForFilter>,
): (segment: SegmentForFilter) => InlinedSize {
  const sizes = new Map<string, InlinedSize>();
  return ({ condition }) => (condition ? sizeOf(condition, segments, sizes) : { filters: 0, cost: 0 });
}

/** What a reference to a segment adds to the statement: its filters, or one look-up if its members are stored. */
function inlinedSize(
  segmentId: string,
  segments: ReadonlyMap<string, SegmentForFilter>,
  sizes: Map<string, InlinedSize>,
): InlinedSize {
  const known = sizes.get(segmentId);
  if (known !== undefined) return known;
  // This is set before the recursion, so that a cycle among other segments ends here.
  sizes.set(segmentId, { filters: 0, cost: 0 });
  const condition = inlinedSegment(segments.get(segmentId));
  const size = condition ? sizeOf(condition, segments, sizes) : { filters: 0, cost: LOOK_UP_COST };
  sizes.set(segmentId, size);
  return size;
}

function sizeOf(
  condition: FilterCondition,
  segments: ReadonlyMap<string, SegmentForFilter>,
  sizes: Map<string, InlinedSize>,
): InlinedSize {
  const size: InlinedSize = { filters: 0, cost: 0 };
  walkFilters(condition, (filter) => {
    const target = filterTarget(filter);
    const inside = target.kind === 'segment' ? inlinedSize(target.segmentId, segments, sizes) : undefined;
    size.filters += 1 + (inside?.filters ?? 0);
    size.cost += filterCost(target, filter) + (inside?.cost ?? 0);
  });
  return size;
}
