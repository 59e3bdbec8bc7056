import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { EMAIL_TYPES } from '../../pure/emails/email-types.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { SUPPRESSION_REASONS } from '../suppressions/suppressions.ts';
import { hasConsented, mayReceive, PURPOSES, purposeOf, refusalOf } from './consent.ts';

describe('consent', () => {
  const { em } = useTestDatabase();

  const recipients = fc.record({
    suppression: fc.option(fc.constantFrom(...SUPPRESSION_REASONS)),
    subscribed: fc.boolean(),
    optedOutAt: fc.option(fc.constant(new Date('2026-01-01T00:00:00Z'))),
  });

  it.each(PURPOSES)('decides the same in SQL and in memory (%s)', async (purpose) => {
    await fc.assert(
      fc.asyncProperty(fc.array(recipients, { minLength: 1, maxLength: 20 }), async (people) => {
        const rows = await query(
          em(),
          sql`
            select ${mayReceive(purpose)} as may, ${hasConsented(purpose)} as consents
            from unnest(
              ${people.map(({ subscribed }) => subscribed)}::boolean[],
              ${people.map(({ optedOutAt }) => optedOutAt)}::timestamptz[],
              ${people.map(({ suppression }) => suppression)}::text[]
            ) with ordinality as c (subscribed, opted_out_at, reason, position)
            cross join lateral (select c.reason) s
            order by position`,
        );
        expect(rows.map(({ may }) => may)).toEqual(people.map((person) => refusalOf(purpose, person) === undefined));
        expect(rows.map(({ consents }) => consents)).toEqual(
          people.map(({ subscribed, optedOutAt }) => refusalOf(purpose, { subscribed, optedOutAt }) === undefined),
        );
      }),
      { numRuns: 50 },
    );
  });

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

  it('names a suppression before anything else, whatever the purpose', () => {
    const person = { suppression: 'COMPLAINT', subscribed: false, optedOutAt: new Date() };
    expect(PURPOSES.map((purpose) => refusalOf(purpose, person))).toEqual(PURPOSES.map(() => 'suppressed'));
  });

  it('refuses nothing that is unknown: an address may have no contact', () => {
    expect(PURPOSES.map((purpose) => refusalOf(purpose, { suppression: null }))).toEqual(PURPOSES.map(() => undefined));
  });
});
