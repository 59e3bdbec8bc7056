import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { LIMITS } from '../../pure/limits.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { createProject } from '../projects/projects.ts';
import { json, sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { countSegmentsAbove, loadReferencedSegments } from './segment-references.ts';
import { segmentPredicate } from '../segments/segment-predicate.ts';

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Segments')).project.id;
});

const membersOf = (...ids: string[]): FilterCondition => ({
  logic: 'AND',
  groups: [
    { filters: ids.slice(0, 1).map((id) => ({ field: `segment.${id}`, operator: 'memberOfSegment' as const })) },
    {
      filters: [],
      conditions: {
        logic: 'OR',
        groups: [
          { filters: ids.slice(1).map((value) => ({ field: 'segment', operator: 'notMemberOfSegment', value })) },
          { filters: [{ field: 'email', operator: 'exists' }] },
        ],
      },
    },
  ],
});

/** Stores a segment without any checks. */
async function store(condition: FilterCondition | null, isTracked = false, id = uuidV7()): Promise<string> {
  await query(
    em(),
    sql`
      insert into segment (id, project_id, name, type, condition, track_membership, computed_at, created_at, updated_at)
      values (${id}, ${projectId}, 'S', ${condition ? 'DYNAMIC' : 'STATIC'}, ${condition && json(condition)}::jsonb,
        ${isTracked}, ${isTracked ? new Date() : null}, now(), now())`,
  );
  return id;
}

/** Stores a chain of segments, in which each refers to the next. @returns their ids in this order */
async function storeChain(length: number, isTracked = false): Promise<string[]> {
  const ids = Array.from({ length }, () => uuidV7());
  for (const [index, id] of ids.entries()) {
    const next = ids[index + 1];
    const end: FilterCondition = { logic: 'AND', groups: [{ filters: [{ field: 'data.a', operator: 'exists' }] }] };
    await store(next === undefined ? end : membersOf(next), isTracked, id);
  }
  return ids;
}

const load = async (condition: FilterCondition, isLive = false) =>
  [...(await loadReferencedSegments(em(), projectId, condition, { isLive })).keys()].sort();

describe('loadReferencedSegments', () => {
  it('finds all segments in fields and values, at any depth, directly and through others', async () => {
    const leaf = await store(null);
    const middle = await store(membersOf(leaf));
    const tracked = await store(membersOf(leaf), true);
    const deleted = uuidV7();
    expect(await load(membersOf(middle, tracked.toUpperCase(), deleted))).toEqual([leaf, middle, tracked].sort());
    expect(await load(membersOf(leaf))).toEqual([leaf]);
    const other = (await createProject(em(), 'Other')).project.id;
    expect((await loadReferencedSegments(em(), other, membersOf(middle), { isLive: false })).size).toBe(0);
  });

  it('does not follow segments with stored members when they are loaded for evaluation', async () => {
    const leaf = await store(null);
    const tracked = await store(membersOf(leaf), true);
    expect(await load(membersOf(tracked), true)).toEqual([tracked]);
    expect(await load(membersOf(tracked), false)).toEqual([leaf, tracked].sort());
  });

  it('ends when segments refer to each other', async () => {
    const [a, b] = [uuidV7(), uuidV7()];
    await store(membersOf(b), false, a);
    await store(membersOf(a), false, b);
    expect(await load(membersOf(a))).toEqual([a, b].sort());
  });

  it('refuses a condition that reaches too many segments', async () => {
    const [first = ''] = await storeChain(LIMITS.segmentsReached + 1);
    await expect(load(membersOf(first))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      errors: [{ field: 'condition', code: 'too_big' }],
    });
  });
});

describe('countSegmentsAbove', () => {
  it('counts the longest chain above a segment', async () => {
    const chain = await storeChain(4);
    expect(await countSegmentsAbove(em(), projectId, chain[0]!)).toBe(0);
    expect(await countSegmentsAbove(em(), projectId, chain[3]!)).toBe(3);
    await store(membersOf(chain[3]!));
    expect(await countSegmentsAbove(em(), projectId, chain[3]!)).toBe(3);
  });
});

describe('a stored chain beyond the limit', () => {
  const evaluate = async (id: string) => {
    const [segment] = await query(em(), sql`select condition from segment where id = ${id}`);
    return segmentPredicate(em(), { id, projectId, type: 'DYNAMIC', condition: segment?.condition }, new Date());
  };

  it('is refused with its reason, while a chain within the limit is evaluated', async () => {
    const chain = await storeChain(60);
    await expect(evaluate(chain[60 - LIMITS.segmentChain - 1]!)).resolves.toBeDefined();
    await expect(evaluate(chain[0]!)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('more than 10 segments'),
    });
  });

  it('is evaluated if its segments are tracked', async () => {
    const chain = await storeChain(200, true);
    await expect(evaluate(chain[0]!)).resolves.toBeDefined();
  });
});
