import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../pure/app-error.ts';
import type { Filter, FilterCondition } from '../../pure/filters/filter-condition.ts';
import { assertFilterSemantics, type FilterSemanticsOptions } from './filter-semantics.ts';
import type { SegmentForFilter } from './segment-references.ts';

const [A, B, C] = ['a', 'b', 'c'].map((letter) => `0190e000-0000-7000-8000-00000000000${letter}`) as [
  string,
  string,
  string,
];

function only(...filters: Filter[]): FilterCondition {
  return { logic: 'AND', groups: [{ filters }] };
}

function member(id: string): Filter {
  return { field: `segment.${id}`, operator: 'memberOfSegment' };
}

function segment(id: string, condition: FilterCondition | null, trackMembership = false): [string, SegmentForFilter] {
  return [id, { id, type: condition === null ? 'STATIC' : 'DYNAMIC', condition, trackMembership }];
}

/** The message of the BAD_REQUEST for a condition; undefined when it is valid. */
function refusalOf(condition: FilterCondition, options: Partial<FilterSemanticsOptions> = {}): string | undefined {
  try {
    assertFilterSemantics(condition, { segments: new Map(), ...options });
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toBe('BAD_REQUEST');
    return error.message;
  }
}

describe('assertFilterSemantics', () => {
  it.each<[Filter, string]>([
    [{ field: 'plan', operator: 'equals', value: 'x' }, 'field: is not a field that equals can read'],
    [{ field: 'data.plan', operator: 'triggered' }, 'field: is a field of the contact'],
    [{ field: 'subscribed', operator: 'greaterThan', value: true }, 'operator: greaterThan cannot be applied'],
    [{ field: 'subscribed', operator: 'contains', value: true }, 'operator: contains cannot be applied'],
    [{ field: 'subscribed', operator: 'equals', value: 'yes' }, 'value: must be true or false'],
    [{ field: 'topic.news', operator: 'greaterThan', value: true }, 'operator: greaterThan cannot be applied'],
    [{ field: 'topic.news', operator: 'equals', value: 'yes' }, 'value: must be true or false'],
    [{ field: 'topic.News', operator: 'exists' }, 'field: must name a topic'],
    [{ field: 'email', operator: 'within', value: 5, unit: 'days' }, 'operator: within cannot be applied'],
    [{ field: 'email', operator: 'equals', value: 5 }, 'value: must be a string'],
    [{ field: 'createdAt', operator: 'contains', value: '2026' }, 'operator: contains cannot be applied'],
    [{ field: 'createdAt', operator: 'greaterThan', value: 'not a date' }, 'value: must be a date'],
    [{ field: 'updatedAt', operator: 'equals', value: '2026-02-30' }, 'value: must be a date'],
    [{ field: 'createdAt', operator: 'lessThan', value: 1700000000 }, 'value: must be a date'],
    [{ field: 'data.tags', operator: 'contains', value: ['x'] }, 'value: must be a string, a number, true or false'],
    [{ field: 'data.age', operator: 'lessThan', value: true }, 'value: must be a number or a string'],
    [{ field: 'event.total', operator: 'equals', value: 5 }, 'operator: equals cannot be applied to an event'],
    [{ field: 'segment', operator: 'memberOfSegment', value: A }, `value: no segment has the id ${A}`],
    [member(B), `field: no segment has the id ${B}`],
  ])('refuses %j', (filter, message) => {
    const inner = only({ field: 'email', operator: 'exists' }, filter);
    const condition: FilterCondition = { logic: 'OR', groups: [{ filters: [] }, { filters: [], conditions: inner }] };

    expect(refusalOf(condition)).toContain(`condition.groups[1].conditions.groups[0].filters[1].${message}`);
  });

  it('begins a message with the path of the condition in the request', () => {
    const condition = only({ field: 'plan', operator: 'exists' });

    expect(refusalOf(condition, { rootPath: 'config.condition' })).toMatch(/^config\.condition\.groups\[0\]/);
  });

  it('allows steps of automations to read the context of the execution', () => {
    const condition = only({ field: 'event.total', operator: 'greaterThan', value: 5 });

    expect(refusalOf(condition, { scope: 'execution' })).toBeUndefined();
  });

  it('refuses a segment that depends on itself, directly or through others', () => {
    const segments = new Map([segment(B, only(member(C))), segment(C, only(member(A)), true)]);

    expect(refusalOf(only(member(A)), { segments, segmentId: A })).toBe(
      `condition.groups[0].filters[0].field: the segment would depend on itself (${A} → ${A})`,
    );
    expect(refusalOf(only(member(B)), { segments, segmentId: A })).toBe(
      `condition.groups[0].filters[0].field: the segment would depend on itself (${[A, B, C, A].join(' → ')})`,
    );
    expect(refusalOf(only(member(B)), { segments })).toBeUndefined();
  });

  it('refuses segments that have too many filters together', () => {
    const ids = Array.from({ length: 14 }, (_, index) => `0190e000-0000-7000-8000-0000000001${index + 10}`);
    const segments = new Map(
      ids.map((id, index) => {
        const next = ids[index + 1];
        return segment(
          id,
          next === undefined ? only({ field: 'email', operator: 'exists' }) : only(member(next), member(next)),
        );
      }),
    );

    expect(refusalOf(only(member(ids[0] ?? '')), { segments })).toContain('more than 3000 filters');
    expect(refusalOf(only(member(ids[4] ?? '')), { segments })).toBeUndefined();
  });
});
