import { describe, expect, it } from '@jest/globals';
import {
  allowedAt,
  daysFor,
  DEFAULT_PLAN,
  planOf,
  positionOn,
  stepsOf,
  type DayResults,
  type WarmUpPosition,
} from './warm-up.ts';

const DAY_MS = 86_400_000;
const dayAt = (index: number): string => new Date(Date.UTC(2026, 5, 1) + index * DAY_MS).toISOString().slice(0, 10);
const NONE: DayResults = { offered: 0, accepted: 0, complaints: 0, hard: 0, against: 0 };

/** Lives through days from the first of June on, each with its results. */
function live(days: (Partial<DayResults> | undefined)[], step = 0, steps = DEFAULT_PLAN) {
  let position: WarmUpPosition = { day: dayAt(0), step, reason: null, setback: null, movedOn: null };
  return days.map((results, index) => {
    const next = positionOn(dayAt(index + 1), position, steps, results && { ...NONE, ...results });
    position = next;
    return next;
  });
}
const good = (offered: number) => ({ offered, accepted: offered });

describe('a warm-up', () => {
  it('goes through a month of good days, each with at most twice as much mail, until the source is warm', () => {
    let position: WarmUpPosition = { day: dayAt(0), step: 0, reason: null, setback: null, movedOn: null };
    const sent: number[] = [];
    let warmOn = 0;
    for (let day = 0; day < 30; day++) {
      const allowed = Math.min(allowedAt(DEFAULT_PLAN, position.step), 2_000_000);
      sent.push(allowed);
      const { outcome, ...next } = positionOn(dayAt(day + 1), position, DEFAULT_PLAN, { ...NONE, ...good(allowed) });
      if (outcome === 'warm') warmOn = day + 1;
      position = next;
    }
    expect(sent.slice(0, 5)).toEqual([50, 100, 200, 400, 600]);
    expect(sent.every((allowed, day) => day === 0 || allowed <= 2 * (sent[day - 1] ?? 0))).toBe(true);
    expect(warmOn).toBe(26);
    expect(allowedAt(DEFAULT_PLAN, position.step)).toBe(Infinity);
  });

  it('repeats a bad day and steps back after a very bad one, with the reason, and goes on after a good one', () => {
    const found = live([good(50), { offered: 100, accepted: 94, against: 6 }, { offered: 100, against: 30 }, good(50)]);
    expect(found.map(({ step, outcome }) => [step, outcome])).toEqual([
      [1, 'next'],
      [1, 'repeated'],
      [0, 'stepped back'],
      [1, 'next'],
    ]);
    expect(found.map(({ reason }) => reason)).toEqual([
      null,
      '2026-06-02 is repeated: 6 % was deferred or refused for speed or reputation',
      'One step back after 2026-06-03: 30 % was deferred or refused for speed or reputation',
      null,
    ]);
  });

  it.each<[string, Partial<DayResults>, string]>([
    [
      'complaints',
      { offered: 2_000, accepted: 2_000, complaints: 3 },
      '0.15 % of the accepted emails were reported as spam',
    ],
    ['many complaints', { offered: 500, accepted: 500, complaints: 2 }, 'One step back .* 0.40 % of the accepted'],
    ['dead mailboxes', { offered: 100, accepted: 90, hard: 7 }, 'is repeated: 7 % of the mailboxes do not exist'],
    [
      'many dead mailboxes',
      { offered: 100, accepted: 90, hard: 10, against: 6 },
      'One step back .* 10 % of the mailboxes',
    ],
  ])('takes %s for a bad sign', (_, results, reason) => {
    const [next] = live([results], 7, [1, 2, 3, 4, 5, 6, 7, 2_000, 9]);
    expect(next?.reason).toMatch(new RegExp(reason));
  });

  it('is changed by no day with little mail, and takes one email alone for no sign', () => {
    const few = [undefined, {}, good(10), { offered: 15, against: 15 }];
    expect(live(few, 3).map(({ step, outcome }) => [step, outcome])).toEqual(few.map(() => [3, 'same']));
    expect(live([{ offered: 25, accepted: 24, hard: 1 }])[0]).toMatchObject({ step: 1, reason: null });
    // A day of enough mail for a judgement, and too little for the next step, keeps the step and clears the reason.
    expect(live([{ offered: 400, against: 30 }, good(40)], 3)[1]).toMatchObject({
      step: 3,
      reason: null,
      outcome: 'same',
    });
  });

  it('does not go below its first day, and judges no day of a source that is warm', () => {
    expect(live([{ offered: 50, against: 50 }])[0]).toMatchObject({ step: 0, outcome: 'repeated' });
    expect(live([{ offered: 50, against: 50 }], 2, [5, 6])[0]).toMatchObject({ step: 2, outcome: 'same' });
  });

  it('tells on which day the last of some emails goes, over all sources', () => {
    const at = (step: number, used = 0, steps = DEFAULT_PLAN) => ({ steps, step, used });
    expect([1, 50, 51, 150, 151, 350].map((emails) => daysFor(emails, [at(0)]))).toEqual([1, 1, 2, 2, 3, 3]);
    expect([daysFor(1, [at(0, 50)]), daysFor(100, [at(0), at(0)]), daysFor(101, [at(0), at(0)])]).toEqual([2, 1, 2]);
    expect(daysFor(10_000_000, [at(1, 0, [50])])).toBe(1);
  });
});

it('a plan of the file for a source precedes one for all, which precedes the built-in one', () => {
  const plans = [
    { name: 'slow', source: '192.0.2.1', provider: 'gmail.com', perDay: [1] },
    { name: 'slow', source: '*', provider: 'gmail.com', perDay: [2] },
    { name: 'slow', source: '*', provider: '*', perDay: [3] },
    { name: 'slow', source: '192.0.2.9', provider: '*', perDay: [4] },
  ];
  const amountsAt = (source: string, name: string, provider: string) => {
    const perDay = planOf({ plans }, name, source);
    return perDay && stepsOf({ perDay }, provider);
  };
  expect(amountsAt('192.0.2.1', 'slow', 'gmail.com')).toEqual([1]);
  expect(amountsAt('192.0.2.2', 'slow', 'gmail.com')).toEqual([2]);
  expect(amountsAt('192.0.2.1', 'slow', 'yahoo.com')).toEqual([3]);
  expect(amountsAt('192.0.2.1', 'default', 'yahoo.com')).toEqual(DEFAULT_PLAN);
  expect(amountsAt('192.0.2.1', 'fast', 'yahoo.com')).toBeUndefined();
});
