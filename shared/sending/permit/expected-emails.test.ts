import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../../tests/support/fake-clock.ts';
import { pause } from '../../platform/wait.ts';
import { createLogger } from '../../platform/logger.ts';
import type { TrafficRule } from '../../pure/traffic-rules.ts';
import type { PermitStore } from '../ports.ts';
import { lend, UNUSED, type AllowanceState, type Lease } from './allowance.ts';
import { Permit } from './permit.ts';

const clock = useFakeClock();
const { signal } = new AbortController();
/** How long the store takes. */
const STORE_MS = 40;
const LONG = { perMinute: 100_000, perDay: 10_000_000 };

/** A store in memory that lends what rules allow. */
function createStore() {
  const states = new Map<string, AllowanceState>();
  const store: PermitStore & { exchanges: number; rows: number } = {
    ...{ exchanges: 0, rows: 0 },
    policyOf: async () => ({ ratePerSecond: 0 }),
    reserve: async () => 0,
    note: async () => undefined,
    async exchange(_relays, _reports, _sent, { requests }) {
      store.exchanges += 1;
      await pause(STORE_MS, signal);
      const nowMs = performance.now();
      const leases = new Map<string, Lease>();
      for (const [key, request] of requests) {
        store.rows += 1;
        const { state, lease } = lend(states.get(key) ?? UNUSED, request, nowMs);
        states.set(key, state);
        leases.set(key, lease);
      }
      return { nowMs, states: new Map(), changes: [], leases, drained: new Set() };
    },
  };
  return store;
}

function createPermit(limits: Partial<TrafficRule>, store = createStore(), labels = ['relay.test:25']) {
  const relays = labels.map((label) => ({ label, source: { name: label, kind: 'relay', pool: 'default' } }) as never);
  const permit = new Permit({
    ...{ store, smtp: { capacity: 60, isClosed: () => false, relays: () => relays } },
    metrics: { providerPaused: () => undefined, providerRecovered: () => undefined },
    logger: createLogger({ level: 'silent', name: 'test' }),
    resolver: { mx: async () => ({ kind: 'absent', isNameUnknown: false }) },
    shaping: { defaults: 'none', rules: [{ provider: '*', source: '*', ...limits }] },
  });
  const ask = (recipient: string) => permit.ask({ projectId: 'p', recipient, stream: 'marketing', signal });
  /** Runs work on the fake clock. @returns its result, and how long it took */
  async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
    const startMs = performance.now();
    const ended: { result: T; ms: number }[] = [];
    void work.then((result) => ended.push({ result, ms: performance.now() - startMs }));
    await clock.pass();
    for (let ms = 0; ms < 2_000 && ended.length === 0; ms += 5) await clock.pass(5);
    const [first] = ended;
    if (!first) throw new Error('It still waits');
    return first;
  }
  return { permit, store, ask, timed };
}

const addresses = (count: number, domains: number): string[] =>
  Array.from({ length: count }, (_, n) => `reader${n}@d${n % domains}.test`);

describe('emails that a campaign announces', () => {
  it.each([[1], [3]])('wait together for one exchange, and then none of them waits, with %d relays', async (count) => {
    const labels = Array.from({ length: count }, (_, n) => `relay${n}.test:25`);
    const { permit, store, ask, timed } = createPermit({ perSecond: 50, connections: 10, ...LONG }, undefined, labels);
    await timed(permit.ready());
    const before = store.exchanges;
    const recipients = addresses(250, 200);
    const announced = await timed(permit.expect('p', 'marketing', recipients));
    expect(announced.ms).toBeLessThanOrEqual(2 * STORE_MS);
    for (const recipient of recipients) {
      const { result, ms } = await timed(ask(recipient));
      expect(ms).toBe(0);
      if ('until' in result) throw new Error(`${recipient} is held`);
      permit.settle(result, { kind: 'accepted', reply: '250 OK' });
    }
    expect(store.exchanges - before).toBe(1);
  });

  it('cost one row of the store for each provider, and none afterwards', async () => {
    const { permit, store, ask, timed } = createPermit({ perSecond: 5_000, ...LONG });
    const recipients = addresses(200, 100);
    await timed(permit.expect('p', 'marketing', recipients));
    for (const recipient of recipients) {
      const { result } = await timed(ask(recipient));
      if ('until' in result) throw new Error(`${recipient} is held`);
      permit.settle(result, { kind: 'accepted', reply: '250 OK' });
    }
    for (let second = 0; second < 10; second++) {
      await timed(permit.ready());
      await clock.pass(1_000);
    }
    expect(store.exchanges).toBeGreaterThan(5);
    expect(store.rows).toBe(100);
  });

  it('go at once to a provider that is still taking earlier ones, several times in a second', async () => {
    const { permit, ask, timed } = createPermit({ perSecond: 5_000, connections: 100, ...LONG });
    for (const waitMs of [0, 1_100, 1_100, 100, 100, 100, 100]) {
      await clock.pass(waitMs);
      await timed(permit.expect('p', 'marketing', ['reader@d0.test']));
      const { result, ms } = await timed(ask('reader@d0.test'));
      expect([ms, 'until' in result]).toEqual([0, false]);
      await timed(permit.ready());
    }
  });

  it('that do not go give back what was lent for them', async () => {
    const first = createPermit({ perDay: 10 });
    const second = createPermit({ perDay: 10 }, first.store);
    await first.timed(first.permit.expect('p', 'marketing', addresses(10, 1)));
    expect((await second.timed(second.ask('reader@d0.test'))).result).toHaveProperty('until');
    for (let at = 0; at < 5; at++) {
      await first.timed(first.permit.ready());
      await clock.pass(1_000);
    }
    expect((await second.timed(second.ask('reader@d0.test'))).result).not.toHaveProperty('until');
  });

  it('are not asked for when no rule is about them', async () => {
    const { permit, store, timed } = createPermit({ messagesPerConnection: 5 });
    await timed(permit.expect('p', 'marketing', addresses(10, 10)));
    expect(store.exchanges).toBe(0);
  });
});
