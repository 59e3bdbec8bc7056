import { beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../database/sql.ts';
import type { Filter, FilterCondition } from '../../pure/filters/filter-condition.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { query } from '../../../tests/support/rows.ts';
import { matchesCondition } from '../../../tests/support/filter-evaluator.ts';
import {
  selectMatching,
  storeContacts,
  storedContact,
  storeProject,
  storeTopics,
} from '../../../tests/support/filter-world.ts';
import { assertFilterSemantics } from './filter-semantics.ts';
import { loadReferencedSegments } from './segment-references.ts';

const { em } = useTestDatabase();
const asOf = new Date('2026-03-15T12:00:00Z');

function only(filter: Filter): FilterCondition {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}

function words(text: string): string[] {
  return text.split(' ').filter(Boolean).sort();
}

/** Operator, value, and which choices match for a topic that contacts have by default, and for one that they join. */
const TOPICS: [Filter['operator'], unknown, string, string][] = [
  ['equals', true, 'none joined', 'joined'],
  ['equals', false, 'left', 'none left'],
  ['notEquals', true, 'left', 'none left'],
  ['notEquals', false, 'none joined', 'joined'],
  ['exists', undefined, 'none joined left', 'none joined left'],
  ['notExists', undefined, '', ''],
];

describe('topics', () => {
  const topics = { news: true, offers: false };
  const choices = { none: {}, joined: { news: true, offers: true }, left: { news: false, offers: false } };
  const contacts = Object.values(choices).map((topicChoices) => storedContact({ topics: topicChoices }));
  const nameOf = new Map(contacts.map(({ id }, index) => [id, Object.keys(choices)[index]]));
  let projectId: string;
  beforeAll(async () => {
    projectId = await storeProject(em());
    await storeTopics(em(), projectId, topics);
    // Others with the same keys, and the opposite defaults, have no say.
    await storeTopics(em(), await storeProject(em()), { news: false, offers: true });
    await storeContacts(em(), projectId, contacts);
  });
  const select = async (condition: FilterCondition): Promise<unknown[]> => {
    const ids = await selectMatching(em(), condition, { asOf, projectId });
    const evaluated = contacts.filter((each) =>
      matchesCondition(condition, each, { asOf, segments: new Map(), topics }),
    );
    expect(evaluated.map(({ id }) => id).sort()).toEqual(ids);
    return ids.map((id) => nameOf.get(id)).sort();
  };

  it.each(TOPICS)('are found as the table says: %s %j', async (operator, value, news, offers) => {
    for (const [key, matching] of Object.entries({ news, offers })) {
      const filter = { field: `topic.${key}`, operator, ...(value !== undefined && { value }) };
      expect(await select(only(filter))).toEqual(words(matching));
      expect(await select(only({ ...filter, field: `contact.topic.${key}` }))).toEqual(words(matching));
      const many = Array.from({ length: 20 }, () => filter);
      expect(await select({ logic: 'OR', groups: [{ filters: many }, { filters: many }] })).toEqual(words(matching));
    }
  });

  it('are checked wherever a condition is loaded, with the path of the filter', async () => {
    const condition: FilterCondition = {
      logic: 'OR',
      groups: [
        { filters: [{ field: 'topic.news', operator: 'exists' }] },
        { filters: [], conditions: only({ field: 'contact.topic.nothing', operator: 'equals', value: true }) },
      ],
    };
    for (const isLive of [true, false]) {
      await expect(
        loadReferencedSegments(em(), projectId, condition, { isLive, rootPath: 'here' }),
      ).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        message: 'here.groups[1].conditions.groups[0].filters[0].field: no topic has the key nothing',
      });
    }
  });
});

/** Field, operator, value, and who matches: `paused` until 20 March, `rested` until 10 March; `pending` has said nothing. */
const CHOICES: [string, Filter['operator'], unknown, string][] = [
  ['pending', 'equals', true, 'pending'],
  ['pending', 'notEquals', true, 'paused rested'],
  ['pending', 'equals', false, 'paused rested'],
  ['pending', 'exists', undefined, 'paused pending rested'],
  ['pending', 'notExists', undefined, ''],
  ['pausedUntil', 'exists', undefined, 'paused'],
  ['pausedUntil', 'notExists', undefined, 'pending rested'],
  ['pausedUntil', 'greaterThan', '2026-03-19', 'paused'],
  ['pausedUntil', 'greaterThan', '2026-03-20', ''],
  ['pausedUntil', 'greaterThanOrEqual', '2026-03-20', 'paused'],
  ['pausedUntil', 'lessThan', '2026-03-21T00:00:00Z', 'paused'],
  ['pausedUntil', 'lessThanOrEqual', '2026-03-10', ''],
  ['pausedUntil', 'equals', '2026-03-20', 'paused'],
  ['pausedUntil', 'notEquals', '2026-03-20', 'pending rested'],
  ['pausedUntil', 'notEquals', '2026-03-10', 'paused pending rested'],
  ['trackingAllowed', 'equals', true, 'paused'],
  ['trackingAllowed', 'equals', false, 'rested'],
  ['trackingAllowed', 'notEquals', true, 'pending rested'],
  ['trackingAllowed', 'notEquals', false, 'paused pending'],
  ['trackingAllowed', 'exists', undefined, 'paused rested'],
  ['trackingAllowed', 'notExists', undefined, 'pending'],
];

describe('what readers chose', () => {
  let projectId: string;
  beforeAll(async () => {
    projectId = await storeProject(em());
    await storeContacts(
      em(),
      projectId,
      ['paused', 'rested', 'pending'].map((email) => storedContact({ email })),
    );
    await query(
      em(),
      sql`
        update contact set is_pending = email = 'pending',
          paused_until = case email when 'paused' then '2026-03-20T12:00:00Z' when 'rested' then '2026-03-10T12:00:00Z' end::timestamptz,
          tracking_allowed = case email when 'paused' then true when 'rested' then false end
        where project_id = ${projectId}`,
    );
  });

  it.each(CHOICES)('is found as the table says: %s %s %j', async (field, operator, value, matching) => {
    for (const name of [field, `contact.${field}`]) {
      const filter = { field: name, operator, ...(value !== undefined && { value }) };
      const ids = await selectMatching(em(), only(filter), { asOf, projectId });
      const rows = await query(em(), sql`select email from contact where id = any(${ids}::uuid[]) order by email`);
      expect(rows.map(({ email }) => email as string)).toEqual(words(matching));
    }
  });

  it.each([
    ['pending', 'greaterThan', true],
    ['pending', 'equals', 'yes'],
    ['trackingAllowed', 'contains', 'x'],
    ['pausedUntil', 'within', 5],
    ['pausedUntil', 'greaterThan', 'soon'],
  ] as const)('is not asked what makes no sense: %s %s %j', (field, operator, value) => {
    expect(() => assertFilterSemantics(only({ field, operator, value }), { segments: new Map() })).toThrow(field);
  });
});
