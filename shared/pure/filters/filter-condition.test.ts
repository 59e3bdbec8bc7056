import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { FILTER_OPERATORS, filterConditionSchema, walkFilters, type FilterCondition } from './filter-condition.ts';

function only(filter: unknown): unknown {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}

/** Paths and codes of the issues. */
function faultsOf(input: unknown): string[] {
  const result = filterConditionSchema.safeParse(input);
  return result.success ? [] : result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.code}`);
}

function nested(levels: number, deepest?: unknown): unknown {
  let condition = deepest ?? only({ field: 'email', operator: 'exists' });
  for (let level = deepest === undefined ? 1 : 0; level < levels; level += 1) {
    condition = { logic: 'OR', groups: [{ filters: [], conditions: condition }] };
  }
  return condition;
}

describe('filterConditionSchema', () => {
  it('drops unknown keys', () => {
    const filter = { field: 'data.plan', operator: 'equals', value: { any: ['thing'] } };
    const inner = { logic: 'AND', groups: [{ filters: [] }] };
    const input = {
      logic: 'OR',
      name: 'dropped',
      groups: [{ filters: [{ ...filter, id: 7 }], conditions: { ...inner, x: 1 }, y: 2 }, { filters: [filter] }],
    };

    expect(filterConditionSchema.parse(input)).toEqual({
      logic: 'OR',
      groups: [{ filters: [filter], conditions: inner }, { filters: [filter] }],
    });
  });

  it.each([
    ['nothing', undefined, [' invalid_type']],
    ['a list', [], [' invalid_type']],
    ['null', null, [' invalid_type']],
    ['no logic', { groups: [{ filters: [] }] }, ['logic invalid_value']],
    ['another logic', { logic: 'and', groups: [{ filters: [] }] }, ['logic invalid_value']],
    ['no groups', { logic: 'AND' }, ['groups invalid_type']],
    ['an empty list of groups', { logic: 'AND', groups: [] }, ['groups too_small']],
    ['groups that are no list', { logic: 'AND', groups: { length: 3 } }, ['groups invalid_type']],
    ['a group without filters', { logic: 'AND', groups: [{}] }, ['groups.0.filters invalid_type']],
    ['a filter that is text', only('email exists'), ['groups.0.filters.0 invalid_type']],
    ['a filter without a field', only({ operator: 'exists' }), ['groups.0.filters.0.field invalid_type']],
    ['an empty field', only({ field: '', operator: 'exists' }), ['groups.0.filters.0.field too_small']],
    ['an endless field', only({ field: 'x'.repeat(1001), operator: 'exists' }), ['groups.0.filters.0.field too_big']],
    ['another operator', only({ field: 'email', operator: 'is' }), ['groups.0.filters.0.operator invalid_value']],
    [
      'a fault deep inside',
      { logic: 'AND', groups: [{ filters: [], conditions: only({ field: 'email', operator: 'equals' }) }] },
      ['groups.0.conditions.groups.0.filters.0.value invalid_type'],
    ],
  ])('refuses %s', (_what, input, faults) => {
    expect(faultsOf(input)).toEqual(faults);
  });

  it.each([3, 20])('names the faults of a condition %i levels deep once each', (level) => {
    const path = 'groups.0.conditions.'.repeat(level);
    const deepest = { logic: 'and', groups: [{ filters: [{}], conditions: 7 }, {}] };
    expect(faultsOf(nested(level, deepest))).toEqual([
      `${path}logic invalid_value`,
      `${path}groups.0.filters.0.field invalid_type`,
      `${path}groups.0.filters.0.operator invalid_value`,
      `${path}groups.0.conditions invalid_type`,
      `${path}groups.1.filters invalid_type`,
    ]);
  });

  it.each(['within', 'olderThan', 'triggeredWithin', 'triggeredOlderThan', 'notTriggeredWithin'])(
    'requires a number of units and a unit for %s',
    (operator) => {
      const filter = { field: 'createdAt', operator };

      expect(faultsOf(only({ ...filter, value: 0.5, unit: 'hours' }))).toEqual([]);
      expect(faultsOf(only(filter))).toEqual([
        'groups.0.filters.0.value invalid_type',
        'groups.0.filters.0.unit invalid_value',
      ]);
      expect(faultsOf(only({ ...filter, value: '5', unit: 'days' }))).toEqual([
        'groups.0.filters.0.value invalid_type',
      ]);
      expect(faultsOf(only({ ...filter, value: Infinity, unit: 'days' }))).toEqual([
        'groups.0.filters.0.value invalid_type',
      ]);
      expect(faultsOf(only({ ...filter, value: 0, unit: 'days' }))).toEqual(['groups.0.filters.0.value too_small']);
      expect(faultsOf(only({ ...filter, value: 5, unit: 'weeks' }))).toEqual(['groups.0.filters.0.unit invalid_value']);
    },
  );

  it.each(['exists', 'notExists', 'triggered', 'notTriggered'])('drops the value of %s', (operator) => {
    const parsed = filterConditionSchema.parse(only({ field: 'x', operator, value: '', unit: 'days' }));

    expect(parsed).toStrictEqual(only({ field: 'x', operator }));
  });

  it('drops the unit of an operator without a time window', () => {
    const filter = { field: 'email', operator: 'equals', value: 'a@b.example' };

    expect(filterConditionSchema.parse(only({ ...filter, unit: 'days' }))).toStrictEqual(only(filter));
  });

  it.each(FILTER_OPERATORS.filter((operator) => /^(not)?(equals|contains)$|Than(OrEqual)?$/i.test(operator)))(
    'requires a value for %s',
    (operator) => {
      expect(faultsOf(only({ field: 'email', operator }))).toContain('groups.0.filters.0.value invalid_type');
      expect(faultsOf(only({ field: 'email', operator, value: null }))).toContain(
        'groups.0.filters.0.value invalid_type',
      );
    },
  );

  it('accepts a tree of 50 levels and refuses one of 51', () => {
    expect(faultsOf(nested(50))).toEqual([]);
    expect(faultsOf(nested(51))).toEqual([`${'groups.0.conditions.'.repeat(50).slice(0, -1)} too_big`]);
  });

  it('refuses a tree of any depth without running out of stack', () => {
    expect(faultsOf(nested(200_000))).toHaveLength(1);
  });

  it('accepts 1,000 filters and refuses one more, wherever they are', () => {
    const filters = Array.from({ length: 500 }, () => ({ field: 'email', operator: 'exists' }));
    const groups = [{ filters, conditions: { logic: 'AND', groups: [{ filters }] } }];

    expect(faultsOf({ logic: 'OR', groups })).toEqual([]);
    expect(faultsOf({ logic: 'OR', groups: [...groups, { filters: filters.slice(0, 1) }] })).toHaveLength(1);
    expect(faultsOf({ logic: 'OR', groups: filters.concat(filters, filters).map(() => ({ filters: [] })) })).toEqual([
      'groups too_big',
    ]);
  });

  it('becomes a recursive JSON schema', () => {
    const schema = z.toJSONSchema(filterConditionSchema, { io: 'input' });

    expect(JSON.stringify(schema)).toContain('"$ref":"#/$defs/FilterCondition"');
  });
});

describe('walkFilters', () => {
  it('visits filters in the order of the document with their paths', () => {
    const condition: FilterCondition = {
      logic: 'AND',
      groups: [
        {
          filters: [{ field: 'a', operator: 'triggered' }],
          conditions: { logic: 'OR', groups: [{ filters: [{ field: 'b', operator: 'triggered' }] }] },
        },
        { filters: [{ field: 'c', operator: 'triggered' }] },
      ],
    };
    const visited: string[] = [];
    walkFilters(condition, (filter, path) => visited.push(`${filter.field} ${path}`));

    expect(visited).toEqual([
      'a groups[0].filters[0]',
      'b groups[0].conditions.groups[0].filters[0]',
      'c groups[1].filters[0]',
    ]);
  });
});
