import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { RATE_MS, RATES, type Limits } from '../../pure/traffic-rules.ts';
import { fairShare, lend, UNUSED, usedUnits, type AllowanceState } from './allowance.ts';
import { Allowances } from './allowances.ts';

const KEY = 'source gmail.com';
/** The longest wait of an email for a connection. */
const DELAY_MS = 1_500;

/** Workers that share one rule over a store, on one clock. Each exchanges once a second, unless it is cut off. */
function createWorkers(count: number, limits: Limits) {
  let nowMs = 1_000_000;
  let state: AllowanceState = UNUSED;
  const now = () => nowMs;
  const sentMs: number[] = [];
  let inFlight = 0;
  let inFlightMax = 0;
  const ends: { atMs: number; end: () => void }[] = [];
  const workers = Array.from({ length: count }, (_, index) => ({ ...createWorker(index), isCut: false }));

  function createWorker(index: number) {
    const allowances = new Allowances(`w${index}`, now);
    const use = () => allowances.entry(KEY, limits);
    function exchange(): void {
      const requests = allowances.takeRequests();
      const request = requests.get(KEY);
      if (!request) return;
      const lent = lend(state, request, nowMs);
      state = lent.state;
      allowances.lent(new Map([[KEY, lent.lease]]), nowMs);
    }
    /** Sends one email if the rule lets it, which takes `ms` after it has waited `delayMs` for its connection. */
    function send(ms: number, delayMs = 0): boolean {
      let shortage = allowances.ask(use(), 'owner');
      if (shortage && !workers[index]?.isCut && allowances.isHungry(KEY)) {
        exchange();
        shortage = allowances.ask(use(), 'owner');
      }
      if (shortage) return false;
      const takenMs = nowMs;
      const taken = use();
      const lent = allowances.take(taken, takenMs);
      let begunMs: number | undefined;
      const begin = (): void => {
        begunMs = allowances.begun([taken], { takenMs }, [lent]);
        sentMs.push(nowMs);
      };
      if (delayMs === 0) begin();
      else ends.push({ atMs: nowMs + delayMs, end: begin });
      inFlight += 1;
      inFlightMax = Math.max(inFlightMax, inFlight);
      const end = (): void => {
        inFlight -= 1;
        allowances.done(taken, { begunMs });
      };
      ends.push({ atMs: nowMs + delayMs + ms, end });
      return true;
    }
    return { exchange, send, expect: (emails: number) => allowances.expect(use(), emails) };
  }

  return {
    workers,
    sentMs,
    inFlightMax: () => inFlightMax,
    pass: (ms: number): void => {
      nowMs += ms;
      for (const due of ends.filter(({ atMs }) => atMs <= nowMs)) {
        due.end();
        ends.splice(ends.indexOf(due), 1);
      }
    },
    now,
  };
}

/** The most emails within any window of a length. */
function mostWithin(sentMs: readonly number[], windowMs: number): number {
  let most = 0;
  for (let first = 0, last = 0; last < sentMs.length; last++) {
    while ((sentMs[last] ?? 0) - (sentMs[first] ?? 0) >= windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

const limitsArbitrary = fc.record(
  {
    perSecond: fc.integer({ min: 1, max: 30 }),
    perMinute: fc.integer({ min: 1, max: 400 }),
    perHour: fc.integer({ min: 1, max: 2_000 }),
    connections: fc.integer({ min: 1, max: 12 }),
  },
  { requiredKeys: [] },
);

describe('a worker that stops', () => {
  it('returns what it was lent and has not used, also of a long lease, so that others have it at once', () => {
    const limits = { perSecond: 1_000, perDay: 1_000 };
    let nowMs = 1_000_000;
    let state: AllowanceState = UNUSED;
    const exchange = (allowances: Allowances, which?: 'last'): void => {
      const request = allowances.takeRequests(which).get(KEY);
      if (!request) return;
      const lent = lend(state, request, nowMs);
      state = lent.state;
      allowances.lent(new Map([[KEY, lent.lease]]), nowMs);
    };
    const stopping = new Allowances('stopping', () => nowMs);
    const use = stopping.entry(KEY, limits);
    stopping.expect(use, 3);
    exchange(stopping);
    expect(stopping.ask(use, 'owner')).toBeUndefined();
    stopping.take(use, nowMs);
    stopping.done(use, { begunMs: stopping.begun([use], { takenMs: nowMs }, []) });
    nowMs += 5_000;
    exchange(stopping);
    expect(usedUnits(state, 'perDay', nowMs)).toBe(20);
    exchange(stopping, 'last');
    expect(usedUnits(state, 'perDay', nowMs)).toBe(1);
    expect(Object.values(state.shares)).toMatchObject([{ perSecond: 0, connections: 0 }]);
  });
});

describe('a traffic rule that workers share', () => {
  it('is never exceeded over any window, however many workers there are and whenever one is cut off or dies', () => {
    fc.assert(
      fc.property(
        limitsArbitrary,
        fc.integer({ min: 1, max: 6 }),
        fc.array(
          fc.record({
            worker: fc.nat(5),
            demand: fc.nat(25),
            announced: fc.nat(40),
            cut: fc.boolean(),
            ms: fc.integer({ min: 1, max: 400 }),
            delayMs: fc.oneof(fc.constant(0), fc.nat(DELAY_MS)),
          }),
          {
            minLength: 300,
            maxLength: 600,
          },
        ),
        (limits: Limits, count, steps) => {
          const { workers, sentMs, pass, now } = createWorkers(count, limits);
          const exchangedMs = workers.map(() => 0);
          for (const { worker: index, demand, announced, cut, ms, delayMs } of steps) {
            const at = index % count;
            const worker = workers[at];
            if (!worker) continue;
            worker.isCut = cut && demand % 5 === 0;
            if (!worker.isCut && now() - (exchangedMs[at] ?? 0) >= 1_000) {
              exchangedMs[at] = now();
              worker.exchange();
            }
            if (announced > 20 && worker.expect(announced) && !worker.isCut) worker.exchange();
            for (let n = 0; n < demand; n++) worker.send(ms * 2, delayMs);
            pass(ms);
          }
          for (const rate of RATES) {
            const limit = limits[rate];
            const windowMs = RATE_MS[rate] - (rate === 'perSecond' ? 0 : DELAY_MS);
            if (limit !== undefined) expect(mostWithin(sentMs, windowMs)).toBeLessThanOrEqual(limit);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is not exceeded by messages that waited for a connection until long after their loan', () => {
    const { workers, sentMs, pass } = createWorkers(1, { perMinute: 60 });
    const [worker] = workers;
    for (let at = 0; at < 140_000; at += 100) {
      if (at % 1_000 === 0) worker?.exchange();
      worker?.send(0, at < 10_000 ? 12_000 : 0);
      pass(100);
    }
    expect(mostWithin(sentMs, RATE_MS.perMinute)).toBe(60);
    expect(sentMs.length).toBeGreaterThan(60);
  });

  it('is not exceeded when a worker that wants nothing more has an email on its way', () => {
    const { workers, sentMs, pass } = createWorkers(2, { perSecond: 1 });
    const [idle, busy] = workers;
    idle?.expect(1);
    idle?.exchange();
    expect(idle?.send(0, DELAY_MS)).toBe(true);
    for (let at = 0; at < 6_000; at += 50) {
      if (at > 0 && at % 1_000 === 0) idle?.exchange();
      if (at >= 1_000) busy?.send(0);
      pass(50);
    }
    expect(mostWithin(sentMs, RATE_MS.perSecond)).toBe(1);
    expect(sentMs.length).toBeGreaterThan(3);
  });

  it('is not exceeded when a worker loses its share as its lease ends and has an email on its way', () => {
    const { workers, sentMs, pass } = createWorkers(2, { perSecond: 1 });
    // Of those that want all of it, the other one has its turn.
    const [second, first] = workers;
    first?.expect(3);
    first?.exchange();
    pass(2_900);
    second?.expect(1);
    second?.exchange();
    expect(first?.send(0, DELAY_MS)).toBe(true);
    first?.exchange();
    for (let at = 2_900; at < 9_000; at += 50) {
      second?.send(0);
      pass(50);
    }
    expect(mostWithin(sentMs, RATE_MS.perSecond)).toBe(1);
    // The first worker asks no more: what it wanted keeps nothing from the second one for long.
    expect(sentMs.length).toBeGreaterThan(3);
  });

  it.each([
    [{ perSecond: 10 }, 8.3],
    [{ perSecond: 50 }, 42],
    [{ perMinute: 600 }, 9],
    [{ perHour: 3_600, perSecond: 10 }, 0.9],
    [{ perDay: 86_400 }, 0.9],
  ] as [Limits, number][])(
    'with %j lets no allowance lie while mail waits at some of four workers',
    (limits, least) => {
      const { workers, sentMs, pass, now } = createWorkers(4, limits);
      const startMs = now();
      const seconds = 2 * Math.max(60, ...RATES.filter((rate) => limits[rate]).map((rate) => RATE_MS[rate] / 1_000));
      const stepMs = seconds < 1_000 ? 10 : limits.perSecond ? 200 : 5_000;
      for (let at = 0; at < seconds * 1_000; at += stepMs) {
        // The mail is at one worker for a while, then at two, then at another.
        const busy = Math.floor(at / 20_000) % 4;
        for (const [index, worker] of workers.entries()) {
          if (at % 1_000 === 0) worker.exchange();
          if (index !== busy && index !== (busy + 1) % 3) continue;
          for (let tries = 0; tries < 5_000 && worker.send(10); tries++);
        }
        pass(stepMs);
      }
      const perSecond = sentMs.length / ((now() - startMs) / 1_000);
      expect(perSecond).toBeGreaterThanOrEqual(least);
    },
  );

  it('is used fully by workers that always want more than it, however much more each wants', () => {
    const { workers, sentMs, pass } = createWorkers(4, { perSecond: 10 });
    for (let at = 0; at < 60_000; at += 10) {
      for (const [index, worker] of workers.entries()) {
        if (at % 1_000 === index * 250) {
          worker.expect((at / 250) % 7 === index ? 50 : 500);
          worker.exchange();
        }
        worker.send(10);
      }
      pass(10);
    }
    expect(sentMs.length).toBeGreaterThanOrEqual(0.9 * 600);
  });

  it('goes to workers that begin, and from those that end, within two seconds', () => {
    const { workers, sentMs, pass } = createWorkers(2, { perSecond: 20 });
    const [first, second] = workers;
    const sentIn = (fromMs: number, untilMs: number): number =>
      sentMs.filter((ms) => ms >= startMs + fromMs && ms < startMs + untilMs).length;
    const startMs = 1_000_000;
    for (let at = 0; at < 30_000; at += 10) {
      if (at % 1_000 === 0) first?.exchange();
      if (at % 1_000 === 370) second?.exchange();
      if (at < 20_000) first?.send(10);
      if (at >= 10_000) second?.send(10);
      pass(10);
    }
    const [alone, joined, left] = [sentIn(5_000, 10_000), sentIn(10_000, 15_000), sentIn(20_000, 25_000)];
    // Half of it is free for two seconds at most.
    expect(Math.min(joined, left)).toBeGreaterThanOrEqual(alone - 20);
  });

  it('of one connection is in turns of all workers that want it', () => {
    const { workers, pass } = createWorkers(3, { connections: 1 });
    const sent = workers.map(() => 0);
    for (let at = 0; at < 240_000; at += 50) {
      for (const [index, worker] of workers.entries()) {
        if (at % 1_000 === 0) worker.exchange();
        if (worker.send(300)) sent[index] = (sent[index] ?? 0) + 1;
      }
      pass(50);
    }
    expect(Math.min(...sent)).toBeGreaterThan(0);
  });

  it.each([{ perSecond: 1_000 }, { connections: 200 }])(
    'with %j is used up at once by mail that nobody has announced',
    (limits) => {
      const { workers, sentMs, pass } = createWorkers(1, limits);
      const [worker] = workers;
      for (let at = 0; at < 3_000; at += 10) {
        if (at % 1_000 === 0) worker?.exchange();
        for (let tries = 0; tries < 300 && worker?.send(200); tries++);
        pass(10);
      }
      expect(sentMs.length).toBeGreaterThanOrEqual(2_000);
    },
  );

  it('has no more messages in flight than connections, shared by demand', () => {
    const { workers, pass, inFlightMax } = createWorkers(3, { connections: 7 });
    for (let at = 0; at < 60_000; at += 50) {
      for (const worker of workers) {
        if (at % 1_000 === 0) worker.exchange();
        for (let n = 0; n < 5; n++) worker.send(300);
      }
      pass(50);
    }
    expect(inFlightMax()).toBe(7);
  });
});

it('a limit is divided so that who wants little gets it, and the rest is equal', () => {
  const wants = new Map([
    ['a', 2],
    ['b', 100],
    ['c', 100],
  ]);
  expect(['a', 'b', 'c'].map((id) => fairShare(11, wants, id))).toEqual([2, 5, 4]);
  expect(['a', 'b', 'c'].map((id) => fairShare(1, wants, id))).toEqual([1, 0, 0]);
});
