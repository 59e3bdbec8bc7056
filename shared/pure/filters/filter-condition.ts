import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { CHECKS } from '../schema-messages.ts';
import { model } from '../model.ts';

export const FILTER_OPERATORS = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'greaterThan',
  'lessThan',
  'greaterThanOrEqual',
  'lessThanOrEqual',
  'exists',
  'notExists',
  'within',
  'olderThan',
  'triggered',
  'triggeredWithin',
  'triggeredOlderThan',
  'notTriggered',
  'notTriggeredWithin',
  'memberOfSegment',
  'notMemberOfSegment',
] as const;

export type FilterOperator = (typeof FILTER_OPERATORS)[number];

const FILTER_UNITS = ['days', 'hours', 'minutes'] as const;
export type FilterUnit = (typeof FILTER_UNITS)[number];

/** One test of one field. For operators with a time window, `value` is a number of `unit`s. */
export interface Filter {
  field: string;
  operator: FilterOperator;
  value?: unknown;
  unit?: FilterUnit;
}

/** All of `filters` and, when given, `conditions` must hold. */
export interface FilterGroup {
  filters: Filter[];
  conditions?: FilterCondition;
}

/** The groups, joined by `logic`. */
export interface FilterCondition {
  logic: 'AND' | 'OR';
  groups: FilterGroup[];
}

const FIELD_LENGTH_MAX = 1_000;

const WITHOUT_VALUE: ReadonlySet<FilterOperator> = new Set(['exists', 'notExists', 'triggered', 'notTriggered']);
const WINDOWED: ReadonlySet<FilterOperator> = new Set([
  'within',
  'olderThan',
  'triggeredWithin',
  'triggeredOlderThan',
  'notTriggeredWithin',
]);
/** The field may name the segment instead of the value: `segment.<id>`. */
const WITH_OPTIONAL_VALUE: ReadonlySet<FilterOperator> = new Set(['memberOfSegment', 'notMemberOfSegment']);

function addWindowIssues(
  { operator, value, unit }: Pick<Filter, 'operator' | 'value' | 'unit'>,
  context: z.RefinementCtx,
) {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    context.addIssue({
      code: 'invalid_type',
      expected: 'number',
      path: ['value'],
      message: `${operator} needs a number of units`,
      input: value,
    });
  } else if (value <= 0) {
    context.addIssue({
      code: 'too_small',
      origin: 'number',
      minimum: 0,
      inclusive: false,
      path: ['value'],
      message: `${operator} needs a number of units greater than 0`,
      input: value,
    });
  }
  if (unit === undefined) {
    context.addIssue({
      code: 'invalid_value',
      values: [...FILTER_UNITS],
      path: ['unit'],
      message: `${operator} needs a unit: ${FILTER_UNITS.join(', ')}`,
      input: unit,
    });
  }
}

/** The shape of one filter. Its meaning depends on its operator, so some of it is checked by refinements. */
export const filterSchema = z
  .object({
    field: z
      .string()
      .min(1)
      .max(FIELD_LENGTH_MAX)
      .meta({
        description: '`email`, `subscribed`, `createdAt`, `topic.<key>`, `data.<key>`, or the name of an event',
        examples: ['data.plan', 'email', 'signed_up'],
      }),
    operator: z.enum(FILTER_OPERATORS).describe('How the field is compared'),
    value: z
      .unknown()
      .optional()
      .meta({ description: 'What it is compared with; the number of units for time windows', examples: ['pro', 30] }),
    unit: z.enum(FILTER_UNITS).optional().describe('Of time windows: what `value` counts'),
  })
  .superRefine((filter, context) => {
    const { operator, value } = filter;
    if (WINDOWED.has(operator)) {
      addWindowIssues(filter, context);
    } else if (!WITHOUT_VALUE.has(operator) && !WITH_OPTIONAL_VALUE.has(operator) && (value ?? null) === null) {
      context.addIssue({
        code: 'invalid_type',
        expected: 'nonoptional',
        path: ['value'],
        message: `${operator} needs a value; use exists or notExists to test for a missing one`,
        input: value,
      });
    }
  })
  // Parts that an operator does not read are dropped rather than refused: form builders also send empty values.
  .overwrite(({ field, operator, value, unit }) => ({
    field,
    operator,
    ...(WITHOUT_VALUE.has(operator) || value === undefined ? {} : { value }),
    ...(WINDOWED.has(operator) ? { unit } : {}),
  }))
  .meta({ id: 'Filter', description: 'One test of one field' });

const groupSchema = model('FilterGroup', 'Filters that must all hold, and a nested condition beside them', {
  filters: z.array(filterSchema).describe('All of them must hold'),
  get conditions() {
    return conditionSchema.optional();
  },
});

const LOGIC_FAULT =
  'Must be AND or OR. A condition has the form ' +
  '{ "logic": "AND", "groups": [{ "filters": [{ "field": "email", "operator": "exists" }] }] }';

const logicSchema = z
  .enum(['AND', 'OR'], { error: LOGIC_FAULT })
  .describe('Whether all groups must hold, or one of them');

const conditionSchema: z.ZodType<FilterCondition> = model(
  'FilterCondition',
  'Groups of filters, joined by `logic`; they nest',
  {
    logic: logicSchema,
    groups: z.array(groupSchema).min(1).describe('What `logic` joins'),
  },
);

type Path = (string | number)[];

function listOf(value: unknown, key: string): unknown[] {
  const list: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return Array.isArray(list) ? list : [];
}

/** The recursive schema copies each fault at every level above it, so faults below this level are found without it. */
const COPIED_LEVELS = 5;
/** A condition without those nested in it. */
const levelSchema = z.object({
  logic: logicSchema,
  groups: z.array(z.object({ filters: z.array(filterSchema), conditions: z.object({}).optional() })).min(1),
});

type Issue = Parameters<z.RefinementCtx['addIssue']>[0];

function tooBig(path: Path, maximum: number, message: string): Issue[] {
  return [{ code: 'too_big', origin: 'array', inclusive: true, input: undefined, path, maximum, message }];
}

function faultsOfLevel(condition: unknown, path: Path): Issue[] {
  const { error } = levelSchema.safeParse(condition, CHECKS);
  return (error?.issues ?? []).map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

/**
 * Finds the first path at which a tree of any shape goes beyond a limit, or the faults of the first condition deep in
 * the tree that has any. It has a stack of its own, so no tree is too deep for it. The recursive schema only sees trees
 * that are small, and sound below the upper levels.
 */
function findFaults(root: unknown): Issue[] {
  const pending: { condition: unknown; path: Path; level: number }[] = [{ condition: root, path: [], level: 1 }];
  let filterCount = 0;
  let groupCount = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { condition, path, level } = next;
    if (level > LIMITS.filterDepth) {
      const message = `A filter condition may be nested at most ${LIMITS.filterDepth} levels deep`;
      return tooBig(path, LIMITS.filterDepth, message);
    }
    const groups = listOf(condition, 'groups');
    groupCount += groups.length;
    if (groupCount > LIMITS.filterCount) {
      const message = `A filter condition may hold at most ${LIMITS.filterCount} groups`;
      return tooBig([...path, 'groups'], LIMITS.filterCount, message);
    }
    for (const [index, group] of groups.entries()) {
      filterCount += listOf(group, 'filters').length;
      if (filterCount > LIMITS.filterCount) {
        const message = `A filter condition may hold at most ${LIMITS.filterCount} filters`;
        return tooBig([...path, 'groups', index, 'filters'], LIMITS.filterCount, message);
      }
      const nested: unknown =
        typeof group === 'object' && group !== null ? Reflect.get(group, 'conditions') : undefined;
      if (typeof nested === 'object' && nested !== null) {
        pending.push({ condition: nested, path: [...path, 'groups', index, 'conditions'], level: level + 1 });
      }
    }
    const faults = level > COPIED_LEVELS ? faultsOfLevel(condition, path) : [];
    if (faults.length > 0) return faults;
  }
  return [];
}

/**
 * The shape of a filter condition as requests send it. Unknown keys are dropped, as are `value` and `unit` where the
 * operator does not read them. Trees deeper than 50 levels or with more than 1,000 filters are refused. The meaning of
 * a field is checked by `assertFilterSemantics`, because a fault there has another status.
 */
export const filterConditionSchema = z.preprocess((input, context) => {
  const faults = findFaults(input);
  for (const fault of faults) context.addIssue(fault);
  return faults.length === 0 ? input : z.NEVER;
}, conditionSchema);

/**
 * Visits every filter of a condition in the order of the document, with its path relative to the condition
 * (`groups[0].filters[2]`).
 */
export function walkFilters(
  condition: FilterCondition,
  visit: (filter: Filter, path: string) => void,
  path = '',
): void {
  condition.groups.forEach((group, groupIndex) => {
    const groupPath = `${path}groups[${groupIndex}].`;
    group.filters.forEach((filter, index) => visit(filter, `${groupPath}filters[${index}]`));
    if (group.conditions !== undefined) walkFilters(group.conditions, visit, `${groupPath}conditions.`);
  });
}
