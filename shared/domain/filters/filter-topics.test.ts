import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Filter, FilterCondition } from '../../pure/filters/filter-condition.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { matchesCondition } from '../../../tests/support/filter-evaluator.ts';
import {
  selectMatching,
  storeContacts,
  storedContact,
  storeProject,
  storeTopics,
} from '../../../tests/support/filter-world.ts';
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
