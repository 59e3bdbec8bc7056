import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AppError } from '../../pure/app-error.ts';
import {
  filterConditionSchema,
  FILTER_OPERATORS,
  type Filter,
  type FilterCondition,
  type FilterGroup,
} from '../../pure/filters/filter-condition.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { matchesCondition } from '../../../tests/support/filter-evaluator.ts';
import {
  selectMatching,
  storeContacts,
  storedContact,
  storeMemberSegment,
  storeProject,
  storeTopics,
  testId,
} from '../../../tests/support/filter-world.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { compileFilter } from './filter-compiler.ts';
import { parseIsoInstant } from '../../pure/filters/iso-instant.ts';
import type { SegmentForFilter } from './segment-references.ts';

const asOf = new Date('2026-03-15T12:00:00Z');

const { em } = useTestDatabase();

const anyMoment = fc
  .date({ min: new Date('2026-03-01T00:00:00Z'), max: new Date('2026-03-20T00:00:00Z'), noInvalidDate: true })
  .map((date) => new Date(Math.floor(date.getTime() / 3_600_000) * 3_600_000));

/** Few different texts, so that stored and wanted values are often equal. */
const anyText = fc.oneof(
  fc.constantFrom('', 'a', 'A', 'ab', 'é', 'É', '5', "'", '?', '\\', '%', '𐐷', '\uffee', 'true', 'null'),
  fc.constantFrom(
    '2026-03-10',
    '2026-02-31',
    '0001-01-01',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:00-1459',
    '2026-03-10T00:00:00Z',
    '2026-03-10T01:00+01:00',
    '2026-03',
    '0000-01-01',
  ),
  fc.constantFrom('2026-03-10T23:59:59.9999Z', '2026-03-10T10:00:00', '2026-03-10T10:00:00+15:00', '9999-12-31'),
  anyMoment.map((date) => date.toISOString()),
  anyMoment.map((date) => date.toISOString().slice(0, 10)),
);
const anyScalar = fc.oneof(anyText, fc.constantFrom(0, 1, -1, 5, 1.5, 1e21, true, false));
const anyKey = fc.constantFrom('a', 'b', 'a.b', 'b.a', '__proto__', "a'?", '');
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    anyScalar,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(anyKey, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const anyData = fc.array(fc.tuple(anyKey, anyValue), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));

const EVENT_NAMES = ['a', 'contact.subscribed', "b'?"];
const ACTIVITIES = [
  ...(['sentAt', 'deliveredAt', 'openedAt', 'clickedAt', 'bouncedAt', 'complainedAt'] as const),
  ...(['humanOpenedAt', 'humanClickedAt'] as const),
];
const MEMBER_SEGMENTS = [testId(), testId()];
const LIVE_SEGMENTS = [testId(), testId()];
const TOPICS = { news: true, offers: false };

const anyContact = fc.record({
  subscribed: fc.boolean(),
  data: anyData,
  createdAt: anyMoment,
  updatedAt: anyMoment,
  events: fc.array(fc.record({ name: fc.constantFrom(...EVENT_NAMES), createdAt: anyMoment }), { maxLength: 4 }),
  emails: fc.array(
    fc.tuple(fc.constantFrom(...ACTIVITIES), anyMoment).map(([activity, moment]) => ({ [activity]: moment })),
    { maxLength: 3 },
  ),
  memberOf: fc.subarray(MEMBER_SEGMENTS),
  topics: fc.record({ news: fc.boolean(), offers: fc.boolean() }, { requiredKeys: [] }),
});

const anyField = fc.oneof(
  { weight: 6, arbitrary: fc.array(anyKey, { minLength: 1, maxLength: 4 }).map((keys) => `data.${keys.join('.')}`) },
  { weight: 2, arbitrary: fc.constantFrom('email', 'subscribed', 'createdAt', 'updatedAt', 'contact.data.a') },
  { weight: 2, arbitrary: fc.constantFrom('topic.news', 'topic.offers', 'contact.topic.news', 'topic.') },
  { weight: 2, arbitrary: fc.constantFrom('event.a', 'event.a.b', 'event.b', 'contact.subscribed', "b'?") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'email.opened',
      'email.clicked',
      'email.sent',
      'email.humanOpened',
      'email.humanClicked',
    ),
  },
);

function filtersOver(segmentIds: string[]): fc.Arbitrary<Filter> {
  const anyFilter = fc
    .record({
      field: anyField,
      operator: fc.constantFrom(...FILTER_OPERATORS),
      value: anyValue,
      units: fc.constantFrom(1, 24, 0.5, 100),
      unit: fc.constantFrom('days' as const, 'hours' as const, 'minutes' as const),
    })
    .map(({ field, operator, value, units, unit }): Filter => {
      return /within$|olderThan$/i.test(operator)
        ? { field, operator, value: units, unit }
        : { field, operator, value };
    });
  const anyMembership = fc.record({
    field: fc.constantFrom(...segmentIds, testId()).map((id) => `segment.${id}`),
    operator: fc.constantFrom('memberOfSegment' as const, 'notMemberOfSegment' as const),
  });
  return fc.oneof({ weight: 9, arbitrary: anyFilter }, { weight: 1, arbitrary: anyMembership });
}

function conditionsOver(segmentIds: string[]): fc.Arbitrary<FilterCondition> {
  const filters = fc.array(filtersOver(segmentIds), { maxLength: 3 });
  const { condition } = fc.letrec<{ condition: FilterCondition; group: FilterGroup }>((tie) => ({
    group: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'tree' },
      fc.record({ filters }),
      fc.record({ filters, conditions: tie('condition') }),
    ),
    condition: fc.record({
      logic: fc.constantFrom('AND' as const, 'OR' as const),
      groups: fc.array(tie('group'), { minLength: 1, maxLength: 3 }),
    }),
  }));
  return condition;
}

/** Leaves out filters that a request may not have, so that the rest can be evaluated. */
function withoutFaults(condition: FilterCondition, isSound: (filter: Filter) => boolean): FilterCondition {
  const groups = condition.groups.map((group) => ({
    filters: group.filters.filter(isSound),
    ...(group.conditions === undefined ? {} : { conditions: withoutFaults(group.conditions, isSound) }),
  }));
  return { logic: condition.logic, groups };
}

/** Whether the segments of a condition cost too much together, although each filter is within the limit. */
function isBeyondBudget(...args: Parameters<typeof compileFilter>): boolean {
  try {
    compileFilter(...args);
    return false;
  } catch (error) {
    if (error instanceof AppError && /segments (?:it refers|referred) to/.test(error.message)) return true;
    throw error;
  }
}

describe('the compiler and the evaluator', () => {
  it('agree on every condition, contact and context', async () => {
    const memberProject = await storeProject(em());
    for (const id of MEMBER_SEGMENTS) await storeMemberSegment(em(), memberProject, id, 'STATIC');
    const isSound = (filter: Filter): boolean => {
      const condition = { logic: 'AND', groups: [{ filters: [filter] }] };
      const parsed = filterConditionSchema.safeParse(condition);
      if (!parsed.success) return false;
      try {
        compileFilter(parsed.data, { asOf, projectId: memberProject, eventContext: {} });
        return true;
      } catch (error) {
        if (error instanceof AppError && error.code === 'BAD_REQUEST') return false;
        throw error;
      }
    };
    const isSoundOutside = (filter: Filter): boolean =>
      isSound(filter) && !(filter.field.startsWith('event.') && !/trigger/i.test(filter.operator));
    let matches = 0;

    await fc.assert(
      fc.asyncProperty(
        fc.array(anyContact, { minLength: 1, maxLength: 12 }),
        fc.array(conditionsOver([...MEMBER_SEGMENTS, ...LIVE_SEGMENTS]), { minLength: 8, maxLength: 8 }),
        fc.tuple(conditionsOver(MEMBER_SEGMENTS), conditionsOver([LIVE_SEGMENTS[0] ?? ''])),
        anyData,
        async (contactParts, conditions, segmentConditions, eventContext) => {
          const projectId = await storeProject(em());
          await storeTopics(em(), projectId, TOPICS);
          const contacts = contactParts.map((parts) => storedContact(parts));
          await storeContacts(em(), projectId, contacts);
          const segments = new Map<string, SegmentForFilter>();
          for (const id of MEMBER_SEGMENTS) {
            segments.set(id, { id, type: 'STATIC', condition: null, trackMembership: false });
          }
          for (const [index, id] of LIVE_SEGMENTS.entries()) {
            const parts = segmentConditions[index];
            const condition = parts === undefined ? null : withoutFaults(parts, isSoundOutside);
            segments.set(id, { id, type: 'DYNAMIC', condition, trackMembership: false });
          }
          for (const parts of conditions) {
            const condition = withoutFaults(parts, isSound);
            const options = { asOf, projectId, segments, eventContext };
            if (isBeyondBudget(condition, options)) continue;
            const selected = await selectMatching(em(), condition, options);
            const expected = contacts
              .filter((contact) =>
                matchesCondition(condition, contact, { asOf, segments, eventContext, topics: TOPICS }),
              )
              .map((contact) => contact.id)
              .sort();
            matches += expected.length;
            expect({ condition, selected }).toEqual({ condition, selected: expected });
          }
        },
      ),
      { numRuns: 120 },
    );
    expect(matches).toBeGreaterThan(100);
  }, 60_000);

  it('agree on every single filter', async () => {
    let matches = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyContact, { minLength: 12, maxLength: 12 }),
        fc.array(filtersOver([testId()]), { minLength: 60, maxLength: 60 }),
        async (contactParts, filters) => {
          const projectId = await storeProject(em());
          await storeTopics(em(), projectId, TOPICS);
          const contacts = contactParts.map((parts) => storedContact({ ...parts, memberOf: [] }));
          await storeContacts(em(), projectId, contacts);
          for (const filter of filters) {
            const condition: FilterCondition = { logic: 'AND', groups: [{ filters: [filter] }] };
            const options = { asOf, projectId, segments: new Map<string, SegmentForFilter>() };
            if (!filterConditionSchema.safeParse(condition).success) continue;
            try {
              compileFilter(condition, options);
            } catch (error) {
              expect(error).toMatchObject({ code: 'BAD_REQUEST' });
              continue;
            }
            const expected = contacts.filter((contact) =>
              matchesCondition(condition, contact, { ...options, topics: TOPICS }),
            );
            matches += expected.length;
            const selected = await selectMatching(em(), condition, options);
            expect({ filter, selected }).toEqual({ filter, selected: expected.map((contact) => contact.id).sort() });
          }
        },
      ),
      { numRuns: 60 },
    );
    expect(matches).toBeGreaterThan(100);
  }, 60_000);
});

describe('everpost_instant', () => {
  it('parses the texts that the compiler parses, and raises no error', async () => {
    const anyNumber = (max: number) => fc.integer({ min: 0, max });
    const anyPadded = (max: number, width: number) => anyNumber(max).map((each) => String(each).padStart(width, '0'));
    const anyDay = fc
      .tuple(
        fc.oneof(anyPadded(9999, 4), fc.constantFrom('2000', '1900', '2024', '0004')),
        anyPadded(13, 2),
        anyPadded(32, 2),
      )
      .map((parts) => parts.join('-'));
    const anyTime = fc
      .tuple(
        anyPadded(24, 2),
        anyPadded(60, 2),
        fc.oneof(
          fc.constant(''),
          anyPadded(60, 2).map((second) => `:${second}`),
        ),
        fc.constantFrom('', '', '.1', '.999', '.9999999', '.'),
        fc.oneof(
          fc.constantFrom('Z', 'z', '', ' Z', '+05', '+0530'),
          anyPadded(16, 2).map((hour) => `-${hour}:59`),
        ),
      )
      .map((parts) => `T${parts.join('')}`);
    const anyInstantText = fc.oneof(
      anyDay,
      fc.tuple(anyDay, anyTime).map((parts) => parts.join('')),
      fc.string(),
      anyText,
    );
    const texts = fc.sample(anyInstantText, 20_000).map((each) => each.toWellFormed().replaceAll('\0', ''));
    const rows = await query(
      em(),
      sql`select text, extract(epoch from everpost_instant(text)) * 1000 as ms
        from jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) as text`,
    );
    const knownInstants = rows.filter((row) => row.ms !== null);
    const differing = rows.filter((row) => {
      const instant = parseIsoInstant(row.text);
      if (instant === undefined || row.ms === null) return (instant === undefined) !== (row.ms === null);
      // PostgreSQL keeps microseconds, which JavaScript cuts off.
      return !(Math.abs(Number(row.ms) - instant.startMs) <= 1);
    });

    expect(differing).toEqual([]);
    expect(knownInstants.length).toBeGreaterThan(500);
  });
});
