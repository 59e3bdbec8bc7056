import { describe, expect, it } from '@jest/globals';
import { testId } from '../../../tests/support/filter-world.ts';
import type { Filter, FilterCondition } from '../../pure/filters/filter-condition.ts';
import { compileFilter } from './filter-compiler.ts';

function anyOf(filters: Filter[]): FilterCondition {
  return { logic: 'OR', groups: filters.map((filter) => ({ filters: [filter] })) };
}

function countIn(condition: FilterCondition, pattern: RegExp): number {
  const { sql } = compileFilter(condition, { asOf: new Date(), projectId: testId() });
  return sql.match(pattern)?.length ?? 0;
}

const contains = (field: string, value: string): Filter => ({ field, operator: 'contains', value });

describe('filters that share a path', () => {
  const condition = anyOf([
    ...['a', 'b', 'c', 'ä', 'ö'].map((value) => contains('data.bio', value)),
    { field: 'data.bio', operator: 'equals', value: 'd' },
    { field: 'data.other', operator: 'exists' },
  ]);

  it.each([
    ['the value', / as path_0\b/g],
    ['its text in lower case', /lower\(/g],
    ['its folded text', / as path_0_folded\b/g],
  ])('read %s once', (_what, pattern) => {
    expect(countIn(condition, pattern)).toBe(1);
  });

  it('have no column for a path that only one filter reads', () => {
    expect(countIn(condition, / as path_1\b/g)).toBe(0);
  });

  it('use no more columns than PostgreSQL allows', () => {
    const filters = Array.from({ length: 1_500 }, (_, index) => contains(`data.f${index % 750}`, 'x'));
    expect(countIn(anyOf(filters), / as path_\d+\b/g)).toBe(400);
    expect(countIn(anyOf(filters), / as path_\d+_lowered\b/g)).toBe(400);
  });
});

describe('more subselects than are joined', () => {
  it.each([
    ['events', (index: number): Filter => ({ field: `event ${index}`, operator: 'triggered' })],
    [
      'emails',
      (index: number): Filter => ({ field: 'email.opened', operator: 'triggeredWithin', value: index, unit: 'days' }),
    ],
  ])('look %s up contact by contact, without a hash table for each', (_kind, filterAt) => {
    const filters = Array.from({ length: 40 }, (_, index) => filterAt(index + 1));
    expect(countIn(anyOf(filters), /exists \(/g)).toBe(40);
    expect(countIn(anyOf(filters), /exists \([^()]* offset 0\)/g)).toBe(32);
  });
});
