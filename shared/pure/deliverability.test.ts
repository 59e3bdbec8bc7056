import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ANSWER_NUMBERS, SIGN_RULES, signsOfDays, type DayNumbers } from './deliverability.ts';

/** A Thursday. */
const TODAY = '2026-11-26';
const dayBefore = (days: number) => new Date(Date.parse(TODAY) - days * 86_400_000).toISOString().slice(0, 10);
/** The last days, today last; undefined is a day without mail. */
const daysOf = (...numbers: (DayNumbers | undefined)[]) =>
  numbers.flatMap((each, index) => (each ? [{ day: dayBefore(numbers.length - 1 - index), ...each }] : []));
const signsOf = (provider: string, ...numbers: (DayNumbers | undefined)[]) =>
  signsOfDays({ provider, days: daysOf(...numbers), today: TODAY });
const calm: DayNumbers = { offered: 1_000, accepted: 1_000 };
const deferring: DayNumbers = { offered: 1_000, accepted: 880, deferredReputation: 120 };

describe('a sign', () => {
  it.each<[string, string, (DayNumbers | undefined)[], string[]]>([
    [
      'begins on its first day',
      'outlook.com',
      [calm, deferring, deferring],
      ['Outlook defers 12 % for reputation since Wednesday'],
    ],
    ['begins today', 'gmail.com', [calm, deferring], ['Gmail defers 12 % for reputation today']],
    [
      'of a week or more has a date',
      'gmail.com',
      Array.from({ length: 9 }, () => deferring),
      ['Gmail defers 12 % for reputation since 18 November'],
    ],
    ['ends on a day without it', 'gmail.com', [deferring, calm], []],
    [
      'goes on through days without mail',
      'gmail.com',
      [deferring, undefined, undefined, deferring],
      ['Gmail defers 12 % for reputation since Monday'],
    ],
    [
      'stays while no mail is offered',
      'gmail.com',
      [deferring, undefined],
      ['Gmail defers 12 % for reputation since Wednesday'],
    ],
    [
      'goes on through a day with a few emails',
      'gmail.com',
      [deferring, { offered: 2, accepted: 2 }, deferring],
      ['Gmail defers 12 % for reputation since Tuesday'],
    ],
    ['is none among few emails', 'gmail.com', [{ offered: 10, accepted: 5, deferredReputation: 5 }], []],
    ['is none of few events', 'gmail.com', [{ offered: 40, accepted: 38, refusedReputation: 2 }], []],
    [
      'is about complaints',
      'gmail.com',
      [{ offered: 1_000, accepted: 1_000, complaints: 4 }],
      ['Gmail: 0.4 % of the recipients complain today'],
    ],
    [
      'is about the project alone',
      'mail.test',
      [{ accepted: 1_000, complaints: 40 }],
      ['mail.test: 4 % of the recipients complain today'],
    ],
    [
      'is about dead addresses',
      'yahoo.com',
      [{ offered: 100, accepted: 94, refusedMailbox: 6 }],
      ['Yahoo refuses 6 % because the address does not exist today'],
    ],
    ['greylisting is none', 'mail.test', [{ offered: 100, accepted: 100, deferredOther: 25 }], []],
    [
      'the urgent ones come first',
      'other',
      [{ offered: 100, accepted: 60, deferredSpeed: 10, refusedReputation: 20 }],
      ['The rest refuses 20 % for reputation or policy today', 'The rest defers 10 % for speed today'],
    ],
  ])('%s', (_what, provider, days, sentences) => {
    expect(signsOf(provider, ...days).map(({ sentence }) => sentence)).toEqual(sentences);
  });

  it('names the source where there are several, and what was done', () => {
    const [sign] = signsOfDays({
      provider: 'gmx.net',
      source: 'mx1',
      days: daysOf(deferring),
      today: TODAY,
      consequence: 'warm-up stepped back',
    });
    expect(sign?.sentence).toBe('GMX defers 12 % of the mail over mx1 for reputation today; warm-up stepped back');
  });

  it('has limits that a provider names, or says that none does', () => {
    for (const { watch, urgent, because } of SIGN_RULES) {
      expect(watch).toBeLessThan(urgent);
      expect(because.length).toBeGreaterThan(20);
    }
  });

  it('whatever the numbers are: begins on a day with events, has a percentage, and is gone after a calm day', () => {
    const day = fc.option(
      fc.record(Object.fromEntries(ANSWER_NUMBERS.map((name) => [name, fc.nat(200)])), { requiredKeys: [] }),
      {
        nil: undefined,
      },
    );
    fc.assert(
      fc.property(fc.array(day, { maxLength: 40 }), (numbers) => {
        const days = daysOf(...numbers);
        for (const { sign, percent, since, sentence } of signsOf('a.test', ...numbers)) {
          expect(days.find((each) => each.day === since)?.[sign]).toBeGreaterThan(0);
          expect(percent).toBeGreaterThan(0);
          expect(percent).toBeLessThanOrEqual(100);
          expect(sentence).toMatch(/^a\.test(?: defers| refuses|:) [\d.]+ % .* (?:today|since \S+(?: \S+)?)$/);
        }
        expect(signsOf('a.test', ...numbers, calm)).toEqual([]);
      }),
    );
  });
});
