import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Filter, FilterCondition } from '../../pure/filters/filter-condition.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { matchesCondition } from '../../../tests/support/filter-evaluator.ts';
import {
  selectMatching,
  storeContacts,
  storedContact,
  testId,
  type StoredContact,
} from '../../../tests/support/filter-world.ts';

const { em } = useTestDatabase();
const asOf = new Date('2026-03-15T12:00:00Z');

/** Every kind of value that custom data can hold under the key of a filter. */
const STORED = {
  missing: undefined,
  null: null,
  empty: '',
  word: 'Pro Plan',
  accent: 'CAFÉ',
  digits: '5',
  five: 5,
  ten: 10.5,
  minus: -3,
  yes: true,
  no: false,
  list: ['Pro', 'x', 5],
  emptyList: [],
  object: { pro: 1 },
  day: '2026-03-10',
  moment: '2026-03-10T15:30:00.000Z',
  sameMoment: '2026-03-11T01:30:00+10:00',
  lateMoment: '2026-03-10T23:30:00-02:00',
  future: '2026-03-16T00:00:00Z',
  noDay: '2026-02-31',
} as const;
type StoredName = keyof typeof STORED;

const PRESENT =
  'empty word accent digits five ten minus yes no list emptyList object day moment sameMoment lateMoment future noDay';

function presentBut(names: string): string {
  const left = new Set(names.split(' '));
  return PRESENT.split(' ')
    .filter((name) => !left.has(name))
    .join(' ');
}

/** Operator, value (and unit), and the stored values that match. */
const CUSTOM_DATA: [Filter['operator'], unknown, string][] = [
  ['exists', undefined, PRESENT],
  ['notExists', undefined, 'missing null'],

  ['equals', 'Pro Plan', 'word'],
  ['equals', 'pro plan', ''],
  ['equals', '', 'empty'],
  ['equals', '5', 'digits'],
  ['equals', 5, 'five'],
  ['equals', 5.0, 'five'],
  ['equals', 10.5, 'ten'],
  ['equals', true, 'yes'],
  ['equals', false, 'no'],
  ['equals', 'true', ''],
  ['equals', ['Pro', 'x', 5], 'list'],
  ['equals', ['Pro'], ''],
  ['equals', [], 'emptyList'],
  ['equals', { pro: 1 }, 'object'],
  ['equals', {}, ''],
  ['equals', '2026-03-10', 'day moment sameMoment'],
  ['equals', '2026-03-11', 'lateMoment'],
  ['equals', '2026-03-10T15:30:00Z', 'moment sameMoment'],
  ['equals', '2026-03-10T00:00:00Z', 'day'],
  ['equals', '2026-02-31', 'noDay'],
  ['equals', '2026-13-45', ''],

  ['notEquals', 'Pro Plan', presentBut('word')],
  ['notEquals', 5, presentBut('five')],
  ['notEquals', '5', presentBut('digits')],
  ['notEquals', true, presentBut('yes')],
  ['notEquals', ['Pro', 'x', 5], presentBut('list')],
  ['notEquals', '2026-03-10', presentBut('day moment sameMoment')],
  ['notEquals', '2026-02-31', presentBut('noDay')],

  ['contains', 'pro', 'word'],
  ['contains', 'Pro', 'word list'],
  ['contains', 'O P', 'word'],
  ['contains', 'x', 'list'],
  ['contains', 'X', ''],
  ['contains', 'café', 'accent'],
  ['contains', 'É', 'accent'],
  ['contains', '', presentBut('five ten minus yes no list emptyList object')],
  ['contains', '%', ''],
  ['contains', '_', ''],
  ['contains', '5', 'digits moment'],
  ['contains', 5, 'list'],
  ['contains', 10.5, ''],
  ['contains', true, ''],

  ['notContains', 'pro', presentBut('word')],
  ['notContains', 'Pro', presentBut('word list')],
  ['notContains', 5, presentBut('list')],
  ['notContains', 'café', presentBut('accent')],

  ['greaterThan', 5, 'ten'],
  ['greaterThanOrEqual', 5, 'five ten'],
  ['lessThan', 5, 'minus'],
  ['lessThanOrEqual', 5, 'five minus'],
  ['greaterThan', -1e300, 'five ten minus'],
  ['greaterThan', '5', 'word accent'],
  ['greaterThanOrEqual', '5', 'word accent digits'],
  ['lessThan', '5', 'empty day moment sameMoment lateMoment future noDay'],
  ['lessThanOrEqual', '5', 'empty digits day moment sameMoment lateMoment future noDay'],
  ['greaterThan', 'Pro', 'word'],
  ['greaterThan', 'pro', ''],
  ['greaterThan', '2026-03-10', 'word accent digits lateMoment future'],
  ['greaterThanOrEqual', '2026-03-10', 'word accent digits day moment sameMoment lateMoment future'],
  ['lessThan', '2026-03-10', 'empty noDay'],
  ['lessThanOrEqual', '2026-03-10', 'empty noDay day moment sameMoment'],
  ['greaterThan', '2026-03-10T15:30:00Z', 'word accent digits lateMoment future'],
  ['lessThanOrEqual', '2026-03-10T15:30:00Z', 'empty noDay day moment sameMoment'],
  ['lessThan', '2026-02-31', 'empty'],

  ['within', [6, 'days'], 'day moment sameMoment lateMoment'],
  ['within', [5, 'days'], 'moment sameMoment lateMoment'],
  ['within', [107, 'hours'], 'lateMoment'],
  ['within', [1, 'minutes'], ''],
  ['within', [1e300, 'days'], 'day moment sameMoment lateMoment'],
  ['olderThan', [5, 'days'], 'day'],
  ['olderThan', [107, 'hours'], 'day moment sameMoment'],
  ['olderThan', [1, 'minutes'], 'day moment sameMoment lateMoment'],
  ['olderThan', [1e300, 'days'], ''],
];

const FULL_EMAIL = 'Anna.Müller+news@Example.com'.toLowerCase();

/** Field, operator, value (and unit), and whether the contact of the tests below matches. */
const STANDARD_FIELDS: [string, Filter['operator'], unknown, boolean][] = [
  ['email', 'exists', undefined, true],
  ['email', 'notExists', undefined, false],
  ['email', 'equals', ' ANNA.MÜLLER+news@example.COM ', true],
  ['email', 'equals', 'anna@example.com', false],
  ['email', 'notEquals', 'anna@example.com', true],
  ['email', 'notEquals', FULL_EMAIL, false],
  ['email', 'contains', 'MÜLLER', true],
  ['email', 'contains', '%', false],
  ['email', 'notContains', '@EXAMPLE', false],
  ['email', 'notContains', '@other', true],
  ['email', 'greaterThan', 'anna', true],
  ['email', 'greaterThanOrEqual', FULL_EMAIL, true],
  ['email', 'lessThan', 'B', true],
  ['email', 'lessThanOrEqual', 'anna', false],
  ['subscribed', 'exists', undefined, true],
  ['subscribed', 'notExists', undefined, false],
  ['subscribed', 'equals', true, true],
  ['subscribed', 'equals', false, false],
  ['subscribed', 'notEquals', true, false],
  ['subscribed', 'notEquals', false, true],
  ['createdAt', 'exists', undefined, true],
  ['createdAt', 'notExists', undefined, false],
  ['createdAt', 'equals', '2026-03-10', true],
  ['createdAt', 'equals', '2026-03-10T23:59:59.999Z', true],
  ['createdAt', 'equals', '2026-03-11T00:59:59.999+01:00', true],
  ['createdAt', 'equals', '2026-03-11', false],
  ['createdAt', 'notEquals', '2026-03-10', false],
  ['createdAt', 'notEquals', '2026-03-11', true],
  ['createdAt', 'greaterThan', '2026-03-10', false],
  ['createdAt', 'greaterThan', '2026-03-09', true],
  ['createdAt', 'greaterThanOrEqual', '2026-03-10', true],
  ['createdAt', 'lessThan', '2026-03-10', false],
  ['createdAt', 'lessThan', '2026-03-11', true],
  ['createdAt', 'lessThanOrEqual', '2026-03-10', true],
  ['createdAt', 'lessThanOrEqual', '2026-03-10T23:59:59.998Z', false],
  ['createdAt', 'within', [5, 'days'], true],
  ['createdAt', 'within', [4, 'days'], false],
  ['createdAt', 'within', [4.6, 'days'], true],
  ['createdAt', 'olderThan', [4, 'days'], true],
  ['createdAt', 'olderThan', [5, 'days'], false],
  ['updatedAt', 'within', [30, 'minutes'], true],
  ['updatedAt', 'within', [29, 'minutes'], false],
  ['updatedAt', 'olderThan', [30, 'minutes'], false],
  ['updatedAt', 'olderThan', [29, 'minutes'], true],
  ['updatedAt', 'equals', '2026-03-15', true],
];

const HISTORIES = {
  never: [],
  once: ['2026-03-15T11:00:00Z'],
  longAgo: ['2026-01-01T00:00:00Z'],
  both: ['2026-01-01T00:00:00Z', '2026-03-15T11:00:00Z'],
  justNow: ['2026-03-15T12:00:00.005Z'],
};
type HistoryName = keyof typeof HISTORIES;

/** Operator, window, and the histories that match. They are the same for events and for email activities. */
const OCCURRENCES: [Filter['operator'], unknown, string][] = [
  ['triggered', undefined, 'once longAgo both justNow'],
  ['notTriggered', undefined, 'never'],
  ['triggeredWithin', [1, 'hours'], 'once both justNow'],
  ['triggeredWithin', [59, 'minutes'], 'justNow'],
  ['triggeredWithin', [100, 'days'], 'once longAgo both justNow'],
  ['triggeredWithin', [1e300, 'days'], 'once longAgo both justNow'],
  ['triggeredOlderThan', [1, 'hours'], 'longAgo'],
  ['triggeredOlderThan', [59, 'minutes'], 'once longAgo both'],
  ['triggeredOlderThan', [1e300, 'days'], ''],
  ['notTriggeredWithin', [1, 'hours'], 'never longAgo'],
  ['notTriggeredWithin', [59, 'minutes'], 'never once longAgo both'],
  ['notTriggeredWithin', [1e300, 'days'], 'never'],
];

function filterOf(field: string, operator: Filter['operator'], value: unknown): Filter {
  if (Array.isArray(value) && /within|olderThan/i.test(operator)) {
    return { field, operator, value: value[0], unit: value[1] as Filter['unit'] };
  }
  return value === undefined ? { field, operator } : { field, operator, value };
}

function only(filter: Filter): FilterCondition {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}

function words(text: string): string[] {
  return text.split(' ').filter(Boolean).sort();
}

/**
 * One contact per entry. `select` and `evaluate` return the entries that a filter selects, in SQL and by the evaluator.
 */
function namedContacts<Name extends string>(entries: [Name, Partial<StoredContact>][]) {
  const projectId = testId();
  const contacts = entries.map(([, overrides]) => storedContact(overrides));
  const nameOf = new Map(contacts.map((contact, index) => [contact.id, entries[index]?.[0]]));
  return {
    store: () => storeContacts(em(), projectId, contacts),
    select: async (filter: Filter) => {
      const ids = await selectMatching(em(), only(filter), { asOf, projectId });
      return ids.map((id) => nameOf.get(id)).sort();
    },
    evaluate: (filter: Filter) =>
      contacts
        .filter((contact) => matchesCondition(only(filter), contact, { asOf, segments: new Map() }))
        .map((contact) => nameOf.get(contact.id))
        .sort(),
  };
}

function title([operator, value]: [Filter['operator'], unknown, string]): string {
  return value === undefined ? operator : `${operator} ${JSON.stringify(value)}`;
}

const KEY_FORMS: [string, string, (value: unknown) => Record<string, unknown>][] = [
  ['a plain key', 'data.plan', (value) => ({ plan: value })],
  ['a key that contains a dot', 'data.my.plan', (value) => ({ 'my.plan': value })],
  ['a nested key', 'data.my.plan', (value) => ({ my: { plan: value } })],
  ['a nested key behind a null', 'data.my.plan', (value) => ({ 'my.plan': null, my: { plan: value } })],
  ['a deeply nested key with dots', 'data.my.own.best.plan', (value) => ({ my: { 'own.best': { plan: value } } })],
];

describe.each(KEY_FORMS)('a value of custom data at %s', (_form, field, dataOf) => {
  const names = Object.keys(STORED) as StoredName[];
  const world = namedContacts(names.map((name) => [name, { data: dataOf(STORED[name]) }]));
  beforeAll(world.store);

  it.each(CUSTOM_DATA.map((row) => [title(row), ...row] as const))(
    'is found as the table says: %s',
    async (_title, operator, value, matching) => {
      const filter = filterOf(field, operator, value);

      expect(await world.select(filter)).toEqual(words(matching));
      expect(world.evaluate(filter)).toEqual(words(matching));
    },
  );
});

describe("a value in an execution's context", () => {
  const projectId = testId();
  beforeAll(() => storeContacts(em(), projectId, [storedContact()]));

  it.each(CUSTOM_DATA.map((row) => [title(row), ...row] as const))(
    'is found as the table says: %s',
    async (_title, operator, value, matching) => {
      const condition = only(filterOf('event.my.plan', operator, value));
      const selected: string[] = [];
      for (const [name, stored] of Object.entries(STORED)) {
        const options = { asOf, projectId, eventContext: { my: { plan: stored } } };
        const ids = await selectMatching(em(), condition, options);
        if (ids.length > 0) selected.push(name);
      }

      expect(selected.sort()).toEqual(words(matching));
    },
  );
});

describe('standard fields', () => {
  const world = namedContacts([
    [
      'contact',
      {
        email: FULL_EMAIL,
        subscribed: true,
        createdAt: new Date('2026-03-10T23:59:59.999Z'),
        updatedAt: new Date('2026-03-15T11:30:00Z'),
      },
    ],
  ]);
  beforeAll(world.store);

  it.each(STANDARD_FIELDS)('are compared as the table says: %s %s %j', async (field, operator, value, matches) => {
    const filter = filterOf(field, operator, value);
    const expected = matches ? ['contact'] : [];

    expect(await world.select(filter)).toEqual(expected);
    expect(await world.select({ ...filter, field: `contact.${field}` })).toEqual(expected);
    expect(world.evaluate(filter)).toEqual(expected);
  });

  it('are in no window when their time is in the future', async () => {
    const future = namedContacts([['future', { createdAt: new Date('2026-03-15T12:00:00.001Z') }]]);
    await future.store();

    expect(await future.select(filterOf('createdAt', 'within', [5, 'days']))).toEqual([]);
    expect(await future.select(filterOf('createdAt', 'olderThan', [1, 'minutes']))).toEqual([]);
  });

  it('distinguish unsubscribed contacts from subscribed ones', async () => {
    const others = namedContacts([['out', { subscribed: false }]]);
    await others.store();

    expect(await others.select(filterOf('subscribed', 'equals', false))).toEqual(['out']);
    expect(await others.select(filterOf('subscribed', 'notEquals', false))).toEqual([]);
  });
});

const HAPPENINGS: [string, string, (moments: Date[]) => Partial<StoredContact>][] = [
  ['an event', 'signed up', (moments) => ({ events: moments.map((createdAt) => ({ name: 'signed up', createdAt })) })],
  [
    'an event with its prefix',
    'event.buy',
    (moments) => ({ events: moments.map((createdAt) => ({ name: 'buy', createdAt })) }),
  ],
  [
    'a system event',
    'contact.subscribed',
    (moments) => ({ events: moments.map((createdAt) => ({ name: 'contact.subscribed', createdAt })) }),
  ],
  ['a sent email', 'email.sent', (moments) => ({ emails: moments.map((sentAt) => ({ sentAt })) })],
  ['a delivered email', 'email.delivered', (moments) => ({ emails: moments.map((deliveredAt) => ({ deliveredAt })) })],
  ['an opened email', 'email.opened', (moments) => ({ emails: moments.map((openedAt) => ({ openedAt })) })],
  ['a clicked email', 'email.clicked', (moments) => ({ emails: moments.map((clickedAt) => ({ clickedAt })) })],
  [
    'one that a person opened',
    'email.humanOpened',
    (moments) => ({ emails: moments.map((humanOpenedAt) => ({ humanOpenedAt })) }),
  ],
  [
    'one that a person clicked',
    'email.humanClicked',
    (moments) => ({ emails: moments.map((humanClickedAt) => ({ humanClickedAt })) }),
  ],
  ['a bounced email', 'email.bounced', (moments) => ({ emails: moments.map((bouncedAt) => ({ bouncedAt })) })],
  ['a complaint', 'email.complained', (moments) => ({ emails: moments.map((complainedAt) => ({ complainedAt })) })],
];

describe.each(HAPPENINGS)('%s', (_what, field, overridesOf) => {
  const names = Object.keys(HISTORIES) as HistoryName[];
  const unrelated = { events: [{ name: 'other', createdAt: asOf }], emails: [{}] };
  const world = namedContacts(
    names.map((name) => {
      const related = overridesOf(HISTORIES[name].map((moment) => new Date(moment)));
      return [
        name,
        {
          events: [...unrelated.events, ...(related.events ?? [])],
          emails: [...unrelated.emails, ...(related.emails ?? [])],
        },
      ];
    }),
  );
  beforeAll(world.store);

  it.each(OCCURRENCES.map((row) => [title(row), ...row] as const))(
    'is found as the table says: %s',
    async (_title, operator, value, matching) => {
      const filter = filterOf(field, operator, value);

      expect(await world.select(filter)).toEqual(words(matching));
      expect(world.evaluate(filter)).toEqual(words(matching));
    },
  );
});
