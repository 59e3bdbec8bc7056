import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX, NIL } from 'uuid';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { EMAIL_TYPES } from '../../pure/emails/email-types.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { SUPPRESSION_REASONS } from '../suppressions/suppressions.ts';
import { consentRefusal, hasConsented, mayReceive, PURPOSES, purposeOf, refusalOf, type TopicRef } from './consent.ts';

/** All contacts. */
const RANGE = { after: NIL, last: sql`${MAX}::uuid` };

describe('consent', () => {
  const { em } = useTestDatabase();

  const soon = new Date(Date.now() + 86_400_000);
  const earlier = new Date('2026-01-01T00:00:00Z');
  const topics: (TopicRef | null)[] = [
    null,
    { id: '00000000-0000-4000-8000-000000000001', defaultSubscription: 'opt_in' },
    { id: '00000000-0000-4000-8000-000000000002', defaultSubscription: 'opt_out' },
  ];
  const recipients = fc.record({
    id: fc.uuid(),
    isPending: fc.boolean(),
    pausedUntil: fc.option(fc.constantFrom(soon, earlier)),
    topicChoice: fc.option(fc.boolean()),
    suppression: fc.option(fc.constantFrom(...SUPPRESSION_REASONS)),
    subscribed: fc.boolean(),
    optedOutAt: fc.option(fc.constant(earlier)),
  });

  it.each(PURPOSES.flatMap((purpose) => topics.map((topic) => ({ purpose, topic }))))(
    'decides the same in SQL and in memory (%j)',
    async ({ purpose, topic }) => {
      await fc.assert(
        fc.asyncProperty(fc.array(recipients, { minLength: 1, maxLength: 20 }), async (people) => {
          const rows = await query(
            em(),
            sql`
              with person as (
                select * from unnest(
                  ${people.map(({ id }) => id)}::uuid[],
                  ${people.map(({ subscribed }) => subscribed)}::boolean[],
                  ${people.map(({ optedOutAt }) => optedOutAt)}::timestamptz[],
                  ${people.map(({ isPending }) => isPending)}::boolean[],
                  ${people.map(({ pausedUntil }) => pausedUntil)}::timestamptz[],
                  ${people.map((person) => person.topicChoice)}::boolean[],
                  ${people.map(({ suppression }) => suppression)}::text[]
                ) with ordinality as p
                  (id, subscribed, opted_out_at, is_pending, paused_until, choice, reason, position)
              ),
              topic_subscription as (
                select ${topic?.id ?? null}::uuid as topic_id, id as contact_id, choice as subscribed from person
                where choice is not null
              )
              select ${mayReceive(purpose, topic)} as may, ${hasConsented(purpose, topic)} as consents,
                ${consentRefusal(purpose, topic)} as refusal, ${hasConsented(purpose, topic, RANGE)} as among
              from person c cross join lateral (select c.reason) s order by position`,
          );
          expect(rows.map(({ may }) => may)).toEqual(
            people.map((person) => refusalOf(purpose, person, topic) === undefined),
          );
          expect(rows.map(({ consents }) => consents)).toEqual(
            people.map((person) => refusalOf(purpose, { ...person, suppression: null }, topic) === undefined),
          );
          expect(rows.map(({ among }) => among)).toEqual(rows.map(({ consents }) => consents));
          expect(rows.map(({ refusal }) => refusal)).toEqual(
            people.map((person) => refusalOf(purpose, { ...person, suppression: null }, topic) ?? null),
          );
        }),
        { numRuns: 30 },
      );
    },
  );

  it('asks subscribers only, unless a caller answers for a recipient who has not opted out', () => {
    const stranger = { subscribed: false, optedOutAt: null };
    const leaver = { subscribed: false, optedOutAt: new Date() };
    const table = EMAIL_TYPES.flatMap((type) =>
      [false, true].map((isRequested) => {
        const purpose = purposeOf(type, isRequested);
        return [type, isRequested, refusalOf(purpose, stranger), refusalOf(purpose, leaver)];
      }),
    );
    expect(table).toEqual([
      ['TRANSACTIONAL', false, undefined, undefined],
      ['TRANSACTIONAL', true, undefined, undefined],
      ['MARKETING', false, 'unsubscribed', 'unsubscribed'],
      ['MARKETING', true, undefined, 'opted out'],
      ['HEADLESS', false, 'unsubscribed', 'unsubscribed'],
      ['HEADLESS', true, undefined, 'opted out'],
    ]);
  });

  it('asks for a choice where the topic is opt_out, unless a caller answers for the recipient', () => {
    const reader = { id: '00000000-0000-4000-8000-000000000003', subscribed: true };
    const table = (['opt_in', 'opt_out'] as const).flatMap((defaultSubscription) =>
      [null, true, false].map((topicChoice) => {
        const refusals = PURPOSES.map((purpose) =>
          refusalOf(purpose, { ...reader, topicChoice }, { id: reader.id, defaultSubscription }),
        );
        return [defaultSubscription, topicChoice, ...refusals];
      }),
    );
    expect(table).toEqual([
      ['opt_in', null, undefined, undefined, undefined],
      ['opt_in', true, undefined, undefined, undefined],
      ['opt_in', false, undefined, 'left topic', 'left topic'],
      ['opt_out', null, undefined, 'not in topic', undefined],
      ['opt_out', true, undefined, undefined, undefined],
      ['opt_out', false, undefined, 'left topic', 'left topic'],
    ]);
  });

  it('sends no marketing to somebody who has not confirmed or who pauses', () => {
    const pending = { subscribed: true, isPending: true };
    const paused = { subscribed: true, pausedUntil: soon };
    expect(PURPOSES.map((purpose) => refusalOf(purpose, pending))).toEqual([undefined, 'pending', 'pending']);
    expect(PURPOSES.map((purpose) => refusalOf(purpose, paused))).toEqual([undefined, 'paused', 'paused']);
    expect(refusalOf('marketing', { subscribed: true, pausedUntil: earlier })).toBeUndefined();
  });

  it('names a suppression before anything else, whatever the purpose', () => {
    const person = { suppression: 'COMPLAINT', subscribed: false, optedOutAt: new Date() };
    expect(PURPOSES.map((purpose) => refusalOf(purpose, person))).toEqual(PURPOSES.map(() => 'suppressed'));
  });

  it('refuses nothing that is unknown: an address may have no contact', () => {
    expect(PURPOSES.map((purpose) => refusalOf(purpose, { suppression: null }))).toEqual(PURPOSES.map(() => undefined));
  });
});
