import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Filter, FilterCondition } from '../../pure/filters/filter-condition.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import {
  selectMatching,
  storeContacts,
  storedContact,
  storeMemberSegment,
  storeProject,
  testId,
  type StoredContact,
} from '../../../tests/support/filter-world.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { compileFilter, type CompileFilterOptions } from './filter-compiler.ts';
import type { SegmentForFilter } from './segment-references.ts';

const asOf = new Date('2026-03-15T12:00:00Z');

const { em } = useTestDatabase();

function only(...filters: Filter[]): FilterCondition {
  return { logic: 'AND', groups: [{ filters }] };
}

/** Stores contacts in a project of their own. `select` returns the indexes of those that a condition selects. */
async function projectWith(contacts: StoredContact[]) {
  const projectId = await storeProject(em());
  await storeContacts(em(), projectId, contacts);
  return {
    projectId,
    select: async (condition: FilterCondition, options: Partial<CompileFilterOptions> = {}) => {
      const ids = await selectMatching(em(), condition, { asOf, projectId, ...options });
      return ids.map((id) => contacts.findIndex((contact) => contact.id === id)).sort();
    },
  };
}

const HOSTILE = [
  `a'b"--`,
  `'; drop table contact; --`,
  '__proto__',
  'constructor',
  'toString',
  'a key with spaces',
  ' ',
  '?',
  '??',
  '\\?',
  'a\\',
  "\\'",
  '$1',
  '$$',
  ':name',
  '%s',
  '{a,b}',
  '0',
  '-1',
  'null',
  '*',
  'ключ 鍵 🗝',
  '\u2028',
  'e\u0301',
  '"',
  '/* */',
];

describe('hostile names and values', () => {
  it.each([...HOSTILE, 'a.b', '.', '..', 'a..b', '.a', 'a.', 'x.y.z.', "a'.b?.c\\"])(
    'are read as plain text: key %j',
    async (key) => {
      const data = Object.fromEntries([[key, 'here']]);
      const nestedData: unknown = key
        .split('.')
        .reduceRight<unknown>((inner, part) => Object.fromEntries([[part, inner]]), 'here');
      const { select } = await projectWith([
        storedContact({ data }),
        storedContact({ data: nestedData as Record<string, unknown> }),
        storedContact({ data: { other: 'here' } }),
      ]);
      const field = `data.${key}`;

      expect(await select(only({ field, operator: 'exists' }))).toEqual([0, 1]);
      expect(await select(only({ field, operator: 'notExists' }))).toEqual([2]);
      expect(await select(only({ field, operator: 'equals', value: 'here' }))).toEqual([0, 1]);
      expect(await select(only({ field, operator: 'notEquals', value: 'there' }))).toEqual([0, 1]);
      expect(await select(only({ field, operator: 'contains', value: 'ERE' }))).toEqual([0, 1]);
      expect(await select(only({ field, operator: 'greaterThan', value: 'a' }))).toEqual([0, 1]);
      expect(await select(only({ field, operator: 'within', value: 1, unit: 'days' }))).toEqual([]);
    },
  );

  it.each(HOSTILE)('are read as plain text: value, event name and context key %j', async (text) => {
    const { select } = await projectWith([
      storedContact({ data: { plain: text, list: [text] }, events: [{ name: text, createdAt: asOf }] }),
      storedContact({ data: { plain: 'other', list: [] } }),
    ]);

    expect(await select(only({ field: 'data.plain', operator: 'equals', value: text }))).toEqual([0]);
    expect(await select(only({ field: 'data.plain', operator: 'contains', value: text }))).toEqual([0]);
    expect(await select(only({ field: 'data.plain', operator: 'lessThanOrEqual', value: text }))).toContain(0);
    expect(await select(only({ field: 'data.list', operator: 'contains', value: text }))).toEqual([0]);
    expect(await select(only({ field: 'data.list', operator: 'equals', value: [text] }))).toEqual([0]);
    expect(await select(only({ field: `event.${text}`, operator: 'triggered' }))).toEqual([0]);
    expect(await select(only({ field: 'email', operator: 'contains', value: text }))).toEqual(
      text === '0' || text === '-1' ? expect.any(Array) : [],
    );
    const eventContext = Object.fromEntries([[text, text]]);
    const inContext = only({ field: `event.${text}`, operator: 'equals', value: text });
    expect(await select(inContext, { eventContext })).toEqual([0, 1]);
    expect(await select(inContext, { eventContext: {} })).toEqual([]);
  });

  it.each(['half \ud800 pair', '\udc00', 'zero \0 byte', '\\u0000'])('do not fail: %j', async (text) => {
    const { select } = await projectWith([storedContact({ data: { plain: 'x', list: [] } })]);

    for (const value of [text, [text], { [text]: text }]) {
      expect(await select(only({ field: 'data.plain', operator: 'equals', value }))).toEqual([]);
    }
    for (const operator of ['contains', 'greaterThan'] as const) {
      await select(only({ field: 'data.plain', operator, value: text }));
    }
    expect(await select(only({ field: `data.${text}`, operator: 'exists' }))).toEqual([]);
    expect(await select(only({ field: `data.${text}`, operator: 'equals', value: 1 }))).toEqual([]);
    expect(await select(only({ field: `event.${text}`, operator: 'triggered' }))).toEqual([]);
  });

  it('are bound parameters, never text of the statement', () => {
    const marker = 'zzz';
    const filters: Filter[] = [
      { field: `data.${marker}`, operator: 'equals', value: marker },
      { field: `data.${marker}.${marker}`, operator: 'contains', value: marker },
      { field: `data.a.b.${marker}`, operator: 'greaterThan', value: marker },
      { field: marker, operator: 'triggeredWithin', value: 777, unit: 'days' },
      { field: 'email', operator: 'equals', value: marker },
      { field: `topic.${marker}`, operator: 'equals', value: true },
      { field: `event.${marker}`, operator: 'equals', value: { [marker]: 777 } },
    ];
    const { sql: text, params } = compileFilter(only(...filters), {
      asOf,
      projectId: testId(),
      eventContext: { [marker]: marker },
    });

    expect(text).not.toMatch(/zzz|777/);
    expect(text.match(/\?/g)).toHaveLength(params.length);
    expect(params.every((param) => typeof param === 'string')).toBe(true);
  });

  it('are refused as an alias', () => {
    const options = { asOf, projectId: testId(), contactAlias: 'c; drop table contact' };

    expect(() => compileFilter(only(), options)).toThrow('Not an SQL alias');
  });
});

describe('a path that fits several keys', () => {
  it('reads the longest key of every object', async () => {
    const { select } = await projectWith([
      storedContact({ data: { 'a.b': 1, a: { b: 2 } } }),
      storedContact({ data: { 'a.b': null, a: { b: 2 } } }),
      storedContact({ data: { 'a.b.c': 1, 'a.b': { c: 2 }, a: { 'b.c': 3, b: { c: 4 } } } }),
      storedContact({ data: { 'a.b': { d: 2 }, a: { 'b.c': 3, b: { c: 4 } } } }),
      storedContact({ data: { 'a.b': [1], a: { 'b.c': {}, b: { c: 4 } } } }),
    ]);
    const equals = (field: string, value: unknown) => select(only({ field, operator: 'equals', value }));

    expect(await equals('data.a.b', 1)).toEqual([0]);
    expect(await equals('data.a.b', 2)).toEqual([1]);
    expect(await equals('data.a.b.c', 1)).toEqual([2]);
    expect(await equals('data.a.b.c', 3)).toEqual([3]);
    expect(await equals('data.a.b.c', {})).toEqual([4]);
    expect(await equals('data.a.b.c', 4)).toEqual([]);
  });
});

describe('groups', () => {
  const contacts = [
    storedContact({ data: { a: 1, b: 1 } }),
    storedContact({ data: { a: 1 } }),
    storedContact({ data: { b: 1 } }),
    storedContact(),
  ];
  const a: Filter = { field: 'data.a', operator: 'exists' };
  const b: Filter = { field: 'data.b', operator: 'exists' };

  it('join their filters with AND, and are joined by the logic of the condition', async () => {
    const { select } = await projectWith(contacts);

    expect(await select({ logic: 'AND', groups: [{ filters: [a, b] }] })).toEqual([0]);
    expect(await select({ logic: 'AND', groups: [{ filters: [a] }, { filters: [b] }] })).toEqual([0]);
    expect(await select({ logic: 'OR', groups: [{ filters: [a] }, { filters: [b] }] })).toEqual([0, 1, 2]);
    const either: FilterCondition = { logic: 'OR', groups: [{ filters: [a] }, { filters: [b] }] };
    expect(await select({ logic: 'AND', groups: [{ filters: [b], conditions: either }] })).toEqual([0, 2]);
  });

  it('match every contact when they have no filters', async () => {
    const everybody = contacts.map((contact) => storedContact({ data: contact.data }));
    const { select } = await projectWith(everybody);

    expect(await select({ logic: 'AND', groups: [{ filters: [] }] })).toEqual([0, 1, 2, 3]);
    expect(await select({ logic: 'OR', groups: [{ filters: [a] }, { filters: [] }] })).toEqual([0, 1, 2, 3]);
    expect(await select({ logic: 'AND', groups: [{ filters: [a] }, { filters: [] }] })).toEqual([0, 1]);
  });

  it('read the custom data of a contact once for many filters', () => {
    const filters = Array.from({ length: 5 }, (_, index) => ({ field: `data.k${index}`, operator: 'exists' as const }));
    const documentsOf = (condition: FilterCondition) =>
      compileFilter(condition, { asOf, projectId: testId() }).sql.split("c.data || '{}'").length - 1;
    expect(documentsOf(only(...filters.slice(1)))).toBe(0);
    expect(documentsOf(only(...filters))).toBe(1);
    const ordered = { field: 'ordered', operator: 'triggered' as const };
    const groups = [...filters, ordered].map((filter) => ({ filters: [filter] }));
    expect(documentsOf({ logic: 'OR', groups: [...groups, { filters: [ordered, ...filters] }] })).toBe(2);
    const long = { field: 'data.a.b.c', operator: 'exists' as const };
    const { sql: text } = compileFilter(only(long, long, ...filters), { asOf, projectId: testId() });
    expect(text.split('everpost_field').length - 1).toBe(1);
  });

  it('compare columns before they read custom data, and look up events last', () => {
    const ordered = { field: 'ordered', operator: 'triggered' as const };
    const unsubscribed = { field: 'subscribed', operator: 'equals' as const, value: false };
    for (const logic of ['AND', 'OR'] as const) {
      const groups = [ordered, a, unsubscribed].map((filter) => ({ filters: [filter] }));
      const { sql: text } = compileFilter({ logic, groups }, { asOf, projectId: testId() });
      const positions = ['c.subscribed', 'c.data', 'filter_event'].map((part) => text.indexOf(part));
      expect(positions).toEqual([...positions].sort((left, right) => left - right));
    }
  });

  it('are evaluated 50 levels deep', async () => {
    const { select } = await projectWith([storedContact({ data: { a: 1 } }), storedContact()]);
    let condition = only(a);
    for (let level = 1; level < 50; level += 1) {
      const email: Filter = { field: 'email', operator: 'contains', value: level % 2 === 0 ? '@' : 'nobody' };
      const nesting = { filters: level % 2 === 0 ? [email] : [], conditions: condition };
      condition = { logic: level % 2 === 0 ? 'AND' : 'OR', groups: [nesting, { filters: [email] }] };
    }

    expect(await select(condition)).toEqual([0]);
  });
});

describe('a thousand filters', () => {
  const kinds: [string, (index: number) => Filter][] = [
    ['values', (index) => ({ field: `data.f${index}`, operator: 'notEquals', value: index })],
    ['nested dates', (index) => ({ field: `data.f.g${index}`, operator: 'lessThan', value: '2026-01-01' })],
    ['deep dates', (index) => ({ field: `data.f.g.h${index}`, operator: 'lessThan', value: '2026-01-01' })],
    ['events', (index) => ({ field: `event ${index}`, operator: 'triggeredOlderThan', value: 5, unit: 'days' })],
    ['absent events', (index) => ({ field: `event ${index}`, operator: 'notTriggered' })],
    ['email activities', () => ({ field: 'email.opened', operator: 'triggeredWithin', value: 5, unit: 'days' })],
    ['members of segments', () => ({ field: 'segment', operator: 'memberOfSegment', value: testId() })],
  ];

  it.each(kinds)('are evaluated for %s, in one group and in one group each', async (_kind, filterAt) => {
    const { select } = await projectWith([storedContact()]);
    const filters = Array.from({ length: 1000 }, (_, index) => filterAt(index));
    const segments = new Map<string, SegmentForFilter>(
      filters.flatMap(({ value }) => {
        const id = String(value);
        return id.length === 36 ? [[id, { id, type: 'STATIC', condition: null, trackMembership: false }]] : [];
      }),
    );
    const conditions: FilterCondition[] = [
      only(...filters),
      { logic: 'OR', groups: filters.map((filter) => ({ filters: [filter] })) },
    ];
    for (const condition of conditions) expect(await select(condition, { segments })).toEqual(expect.any(Array));
  });
});

describe('segments', () => {
  const live = testId();
  const outer = testId();
  const fixed = testId();
  const tracked = testId();
  const loop = testId();
  const contacts = [
    storedContact({ data: { plan: 'pro' }, memberOf: [fixed] }),
    storedContact({ data: { plan: 'pro' }, memberOf: [tracked] }),
    storedContact({ data: { plan: null } }),
  ];
  const pro = only({ field: 'data.plan', operator: 'equals', value: 'pro' });
  const inLive: Filter = { field: `segment.${live}`, operator: 'memberOfSegment' };
  const segments = new Map<string, SegmentForFilter>(
    [
      { id: live, type: 'DYNAMIC' as const, condition: pro, trackMembership: false },
      { id: outer, type: 'DYNAMIC' as const, condition: only(inLive), trackMembership: false },
      { id: fixed, type: 'STATIC' as const, condition: null, trackMembership: false },
      { id: tracked, type: 'DYNAMIC' as const, condition: pro, trackMembership: true },
      {
        id: loop,
        type: 'DYNAMIC' as const,
        condition: only({ field: `segment.${loop}`, operator: 'memberOfSegment' }),
        trackMembership: false,
      },
    ].map((segment) => [segment.id, segment]),
  );

  let projectId: string;
  beforeAll(async () => {
    projectId = await storeProject(em());
    await storeMemberSegment(em(), projectId, fixed, 'STATIC');
    await storeMemberSegment(em(), projectId, tracked, 'DYNAMIC');
    await storeContacts(em(), projectId, contacts);
  });

  it.each([
    ['a live segment', live, [0, 1]],
    ['a live segment through another one', outer, [0, 1]],
    ['a STATIC segment', fixed, [0]],
    ['a tracked segment', tracked, [1]],
    ['a segment that depends on itself', loop, []],
    ['a deleted segment', testId(), []],
  ])('have the members that their definition gives them: %s', async (_what, id, members) => {
    const select = async (filter: Filter) => {
      const ids = await selectMatching(em(), only(filter), { asOf, projectId, segments });
      return ids.map((contactId) => contacts.findIndex((contact) => contact.id === contactId));
    };

    expect(await select({ field: `segment.${id}`, operator: 'memberOfSegment' })).toEqual(members);
    expect(await select({ field: 'segment', operator: 'memberOfSegment', value: id.toUpperCase() })).toEqual(members);
    expect(await select({ field: `segment.${id}`, operator: 'notMemberOfSegment' })).toEqual(
      [0, 1, 2].filter((index) => !members.includes(index)),
    );
  });

  it('are refused when together they have too many filters', () => {
    const ids = Array.from({ length: 9 }, testId);
    const multiplying = new Map<string, SegmentForFilter>(
      ids.map((id, index) => {
        const next: Filter = { field: 'segment', operator: 'memberOfSegment', value: ids[index + 1] ?? live };
        return [id, { id, type: 'DYNAMIC', condition: only(next, next, next), trackMembership: false }];
      }),
    );
    const condition = only({ field: 'segment', operator: 'memberOfSegment', value: ids[0] });

    expect(() => compileFilter(condition, { asOf, projectId, segments: multiplying })).toThrow(
      'more than 3000 filters',
    );
  });
});

describe('the statement around a predicate', () => {
  it('may have any alias for the contact, and may be an update', async () => {
    const { projectId } = await projectWith([storedContact({ data: { plan: 'pro' } }), storedContact()]);
    const predicate = compileFilter(
      only({ field: 'data.plan', operator: 'exists' }, { field: 'buy', operator: 'notTriggered' }),
      { asOf, projectId, contactAlias: 'someone' },
    );
    const rows = await query(
      em(),
      sql`update contact someone set subscribed = false where someone.project_id = ${projectId}::uuid and ${predicate} returning id`,
    );

    expect(rows).toHaveLength(1);
  });
});
