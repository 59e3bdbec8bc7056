import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { dayOf } from '../../pure/days.ts';
import { allowedAt, positionOn, type DayResults } from '../../pure/warm-up.ts';
import { Allowances } from './allowances.ts';
import {
  lendDay,
  nextDayUse,
  NO_USE,
  partsOfWarmUp,
  WARM_UP_LIMITS,
  warmUpKey,
  type WarmingSource,
} from './warm-up-allowance.ts';

const HOUR_MS = 3_600_000;
const [SOURCE, PROVIDER] = ['2001:db8::1', 'gmail.com'];

/** Workers and projects that share a source that warms up, on one clock. Each worker exchanges once a second. */
function createWorld(workerCount: number, steps: readonly number[], startMs: number) {
  let nowMs = startMs;
  const position = { day: dayOf(nowMs), step: 0, reason: null, setback: null, movedOn: null };
  let warming: WarmingSource = { source: SOURCE, provider: PROVIDER, position, steps };
  let use = NO_USE;
  /** What was sent, by day and by day and project. */
  const sent = new Map<string, number>();
  const on = (day: string, projectId = ''): number => sent.get(day + projectId) ?? 0;
  const words = new Set<string>();

  function lend(projectId: string, request: Parameters<typeof lendDay>[3]) {
    const today = dayOf(nowMs);
    if (warming.position.day < today) {
      const offered = on(warming.position.day);
      const results: DayResults = { offered, accepted: offered, complaints: 0, hard: 0, against: 0 };
      warming = { ...warming, position: positionOn(today, warming.position, steps, results) };
      use = nextDayUse(use, today);
    }
    const lent = lendDay(use, warming, projectId, request, nowMs);
    // It is kept as JSON.
    use = JSON.parse(JSON.stringify(lent.use));
    if (lent.lease.short?.because) words.add(lent.lease.short.because);
    return lent.lease;
  }

  const workers = Array.from({ length: workerCount }, (_, index) => {
    let allowances = new Allowances(`w${index}`, () => nowMs);
    function exchange(): void {
      const leases = [...allowances.takeRequests()].map(([key, request]) => {
        return [key, lend(partsOfWarmUp(key)?.projectId ?? '', request)] as const;
      });
      allowances.lent(new Map(leases), nowMs);
    }
    function send(projectId: string): boolean {
      const key = warmUpKey(projectId, SOURCE, PROVIDER);
      const use = allowances.entry(key, WARM_UP_LIMITS);
      let shortage = allowances.ask(use, 'owner');
      if (shortage && allowances.isHungry(key)) {
        exchange();
        shortage = allowances.ask(use, 'owner');
      }
      if (shortage) return false;
      allowances.take(use);
      for (const key of ['', projectId]) sent.set(dayOf(nowMs) + key, on(dayOf(nowMs), key) + 1);
      allowances.done(use, {});
      return true;
    }
    const die = (): void => void (allowances = new Allowances(`w${index}-${nowMs}`, () => nowMs));
    const expectMail = (projectId: string, count: number) =>
      allowances.expect(allowances.entry(warmUpKey(projectId, SOURCE, PROVIDER), WARM_UP_LIMITS), count);
    return { exchange, send, die, expectMail };
  });

  return {
    workers,
    words,
    on,
    warming: () => warming,
    now: () => nowMs,
    pass: (ms: number) => void (nowMs += ms),
  };
}

describe('the allowance of a day', () => {
  it('is never exceeded, by any number of workers and projects, over deaths and midnights', () => {
    const stepArbitrary = fc.record({
      worker: fc.nat(4),
      project: fc.nat(2),
      mail: fc.nat(30),
      announced: fc.nat(60),
      dies: fc.nat(20),
      ms: fc.oneof(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 5 * HOUR_MS })),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: -5_000, max: 5_000 }),
        fc.array(stepArbitrary, { minLength: 60, maxLength: 150 }),
        (count, steps, aroundMidnightMs, events) => {
          const world = createWorld(count, steps, Date.UTC(2026, 5, 2) + aroundMidnightMs);
          const projects = [randomUUID(), randomUUID(), randomUUID()];
          const allowed = new Map<string, number>();
          for (const { worker: index, project, mail, announced, dies, ms } of events) {
            const worker = world.workers[index % count];
            const projectId = projects[project] ?? '';
            if (!worker) continue;
            if (dies === 0) worker.die();
            if (announced > 30 && worker.expectMail(projectId, announced)) worker.exchange();
            for (let n = 0; n < mail; n++) worker.send(projectId);
            const { position } = world.warming();
            allowed.set(position.day, allowedAt(steps, position.step));
            world.pass(ms);
            if (ms % 3 === 0) worker.exchange();
          }
          for (const [day, most] of allowed) expect(world.on(day)).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is used up on each day of a month on which mail waits, wherever the mail is', () => {
    const world = createWorld(4, [50, 100, 200, 400, 800, 1_600], Date.UTC(2026, 5, 1));
    const projectId = randomUUID();
    const days: string[] = [];
    for (let at = 0; at < 30 * 6; at++) {
      const day = dayOf(world.now());
      if (!days.includes(day)) days.push(day);
      // Most of the time is idle, so leases end. The mail is at one worker, later at another.
      for (let second = 0; second < 12; second++) {
        for (const [index, worker] of world.workers.entries()) {
          while (index === at % 4 && world.on(day) < 3_000 && worker.send(projectId));
          worker.exchange();
        }
        world.pass(1_000);
      }
      world.pass(4 * HOUR_MS - 12_000);
    }
    expect(days.slice(0, 6).map((day) => world.on(day))).toEqual([50, 100, 200, 400, 800, 1_600]);
    expect(allowedAt([1], world.warming().position.step)).toBe(Infinity);
    expect([...world.words][0]).toBe(
      'Source 2001:db8::1 warms up: on day 1 of 6 it sends 50 emails to gmail.com, which are used up. It goes on at 2026-06-02 00:00 UTC',
    );
  });

  it('is shared: a project that waits gets its part of the next day, though another one has far more mail and asks first', () => {
    const world = createWorld(2, [40, 40, 40], Date.UTC(2026, 5, 1, 23));
    const [large, small] = [randomUUID(), randomUUID()];
    const [first, second] = world.workers;
    first?.expectMail(large, 1_000);
    first?.exchange();
    for (let n = 0; n < 100; n++) first?.send(large);
    for (let n = 0; n < 10; n++) second?.send(small);
    expect([world.on('2026-06-01', large), world.on('2026-06-01', small)]).toEqual([40, 0]);
    world.pass(HOUR_MS);
    first?.expectMail(large, 1_000);
    first?.exchange();
    for (let n = 0; n < 100; n++) first?.send(large);
    world.pass(20_000);
    let left = 10;
    for (let seconds = 0; seconds < 90; seconds++) {
      world.pass(1_000);
      for (const worker of world.workers) worker.exchange();
      for (let n = 0; n < 100; n++) first?.send(large);
      while (left > 0 && second?.send(small)) left -= 1;
    }
    expect([world.on('2026-06-02', large), world.on('2026-06-02', small)]).toEqual([30, 10]);
  });

  it('is not spent on an email that no server was offered', () => {
    const allowances = new Allowances('w', () => 0);
    const key = warmUpKey(randomUUID(), SOURCE, PROVIDER);
    const use = allowances.entry(key, WARM_UP_LIMITS);
    allowances.ask(use, 'owner');
    allowances.lent(new Map([[key, { atMs: 0, ms: 3_000, units: 1, perSecond: Infinity, connections: Infinity }]]), 0);
    expect(allowances.ask(use, 'owner')).toBeUndefined();
    allowances.take(use);
    expect(allowances.ask(use, 'owner')).toBeDefined();
    allowances.done(use, { takenMs: 0 });
    expect(allowances.ask(use, 'owner')).toBeUndefined();
  });
});

it('mail that waited for a connection beyond midnight is mail of the new day', () => {
  const midnightMs = Date.parse('2026-03-02T00:00:00Z');
  const position = { day: '2026-03-02', step: 0, reason: null, setback: null, movedOn: null };
  const warming: WarmingSource = { source: SOURCE, provider: PROVIDER, position, steps: [10, 20] };
  const late = [midnightMs - 2_000, midnightMs - 2_000, midnightMs - 1_000];
  const first = lendDay(NO_USE, warming, 'p', { wants: 5, unused: [], late }, midnightMs + 1_000);
  const nowMs = midnightMs + 70_000;
  // A unit of the same day counts already.
  const second = lendDay(first.use, warming, 'p', { wants: 9, unused: [], late: [midnightMs + 1_000] }, nowMs);
  expect([first.lease.units, second.lease.units]).toEqual([5, 2]);
});
