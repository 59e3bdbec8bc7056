import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { v7 as uuidV7 } from 'uuid';
import { createDnsResolver } from '../../shared/platform/dns/resolver.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { quietTemporal } from '../../tests/support/quiet-temporal.ts';
import type { AttemptMemory } from '../../shared/durable/attempts/attempt.ts';
import { createPermitStore } from '../../shared/domain/emails/permit-store.ts';
import { Permit } from '../../shared/sending/permit/permit.ts';
import { attemptSize, bookNextAttempt, takeTurns, type Throttle } from './booked-attempt.ts';

quietTemporal();

const RATE = 10;

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  projectId = uuidV7();
});
afterAll(() => database.drop());

function throttleOf(isUrgent: boolean): Throttle {
  const store = createPermitStore(() => database.orm.em.fork(), 0);
  const smtp = { capacity: 1, isClosed: () => false, relays: () => [] };
  const metrics = {
    providerPaused: () => undefined,
    providerRecovered: () => undefined,
    warmUpDecided: () => undefined,
  };
  const permit = new Permit({
    store,
    smtp,
    metrics,
    logger: createLogger({ level: 'warn', name: 'test' }),
    shaping: { defaults: 'mx', rules: [] },
    resolver: createDnsResolver({ servers: [] }),
  });
  return { permit, stream: 'campaign', projectId, ratePerSecond: RATE, isUrgent, signal: new AbortController().signal };
}

interface Attempt<T> {
  result: T | undefined;
  failure: ApplicationFailure | undefined;
  memory: AttemptMemory;
}

/** Runs `work` as an attempt after those that left `memory`. */
async function attempt<T>(work: () => Promise<T>, memory: AttemptMemory = {}): Promise<Attempt<T>> {
  const environment = new MockActivityEnvironment({ heartbeatDetails: { memory } });
  const done: Attempt<T> = { result: undefined, failure: undefined, memory };
  environment.on('heartbeat', (details: { memory: AttemptMemory }) => (done.memory = details.memory));
  await environment.run(async () => {
    try {
      done.result = await work();
    } catch (error) {
      done.failure = error as ApplicationFailure;
    }
  });
  return done;
}

const take = (count: number, { isUrgent = false, memory = {} } = {}) =>
  attempt(() => takeTurns(throttleOf(isUrgent), count), memory);

describe('the sending speed of a project', () => {
  it('sends the first emails at once, and the next in bursts of half a second', async () => {
    // The bursts are counted from the reservation, which a busy machine is slow to hand over.
    const beganAt = Date.now();
    const { result: turn } = await take(11);
    const realTimer = globalThis.setTimeout;
    const waited: number[] = [];
    let index = 0;
    globalThis.setTimeout = ((...timer: Parameters<typeof realTimer>) => {
      waited.push(index);
      return realTimer(...timer);
    }) as typeof realTimer;
    try {
      for (; index < 11; index++) await turn?.();
    } finally {
      globalThis.setTimeout = realTimer;
    }
    // Others may set timers while an email waits.
    expect([...new Set(waited)]).toEqual([5, 10]);
    expect(Date.now() - beganAt).toBeGreaterThanOrEqual(950);
  });

  it('frees the slot when the reserved time is seconds away, and keeps the reservation', async () => {
    const beganAt = Date.now();
    await take(40);
    const { failure, memory } = await take(40);
    expect(failure).toMatchObject({ type: 'Throttled', nonRetryable: false, category: 'BENIGN' });
    expect(Number(failure?.nextRetryDelay) + Date.now() - beganAt).toBeGreaterThan(3_000);
    expect(memory.booking).toMatchObject({ count: 40 });

    const due = { booking: { ratePerSecond: RATE, count: 40, startsAtMs: Date.now() - 500 } };
    const later = await take(40, { memory: due });
    expect(later.result).toBeDefined();
    expect(later.memory.booking).toBeUndefined();
    // Nothing more was reserved: later emails wait only for the two reservations of forty.
    expect(Number((await take(1)).failure?.nextRetryDelay)).toBeLessThan(11_000);
  });

  it('keeps the slot until the reserved time, for an attempt that cannot end yet', async () => {
    const beganAt = Date.now();
    await take(15);
    const { result, failure } = await attempt(() => takeTurns(throttleOf(false), 5, true));
    expect([result, failure]).toEqual([expect.any(Function), undefined]);
    expect(Date.now() - beganAt).toBeGreaterThanOrEqual(1_450);
  });

  it('makes up for a short delay of an attempt, and not for an outage', async () => {
    const late = { booking: { ratePerSecond: RATE, count: 20, startsAtMs: Date.now() - 3_000 } };
    const { result: turn } = await take(20, { memory: late });
    const beganAt = Date.now();
    for (let n = 0; n < 20; n++) await turn?.();
    // At the rate of the project they would take two seconds.
    expect(Date.now() - beganAt).toBeLessThan(1_500);

    await take(40);
    const lost = { booking: { ratePerSecond: RATE, count: 20, startsAtMs: Date.now() - 60_000 } };
    expect((await take(20, { memory: lost })).failure).toMatchObject({ type: 'Throttled' });
  });

  it('reserves no more for the next attempt than a few seconds allow', async () => {
    const { result, memory } = await attempt(() => bookNextAttempt(throttleOf(false), 1_000));
    expect(result).toMatchObject({ type: 'Throttled' });
    expect(memory.booking).toMatchObject({ count: 4 * RATE });
    const next = await attempt(async () => attemptSize(throttleOf(false)), memory);
    expect(next.result).toBe(4 * RATE);
  });

  it('sends a transactional email before the reservations of campaigns, which are delayed by it', async () => {
    const beganAt = Date.now();
    for (let n = 0; n < 5; n++) await take(40);
    expect((await take(1, { isUrgent: true })).failure).toBeUndefined();
    expect((await take(39, { isUrgent: true })).failure).toBeUndefined();
    const waitsMs = Number((await take(1)).failure?.nextRetryDelay);
    expect(waitsMs + Date.now() - beganAt).toBeGreaterThan(22_000);
    // Together they keep to the sending speed.
    expect((await take(1, { isUrgent: true })).failure).toMatchObject({ type: 'Throttled' });
  });
});
