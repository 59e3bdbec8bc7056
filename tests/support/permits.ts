import { createLogger } from '../../shared/platform/logger.ts';
import { pause } from '../../shared/platform/wait.ts';
import type { TrafficRule } from '../../shared/pure/traffic-rules.ts';
import { lend, UNUSED, type AllowanceState, type Lease } from '../../shared/sending/permit/allowance.ts';
import { Permit } from '../../shared/sending/permit/permit.ts';
import type { PermitStore } from '../../shared/sending/ports.ts';
import type { FakeClock } from './fake-clock.ts';

const { signal } = new AbortController();
/** How long the store takes. */
export const STORE_MS = 40;

/** A store in memory that lends what rules allow. */
export function createStore() {
  const states = new Map<string, AllowanceState>();
  const store: PermitStore & { exchanges: number; loans: number; rows: number; drained: Set<string> } = {
    exchanges: 0,
    loans: 0,
    rows: 0,
    drained: new Set(),
    policyOf: async () => ({ ratePerSecond: 0, knownMs: Date.now() }),
    reserve: async () => 0,
    note: async () => undefined,
    async exchange() {
      store.exchanges += 1;
      const [nowMs, states, changes] = [performance.now(), new Map(), []];
      return { nowMs, states, changes, drained: new Set(store.drained), warming: new Set() };
    },
    async lend(requests) {
      store.loans += 1;
      await pause(STORE_MS, signal);
      const nowMs = performance.now();
      const leases = new Map<string, Lease>();
      for (const [key, request] of requests) {
        store.rows += 1;
        const { state, lease } = lend(states.get(key) ?? UNUSED, request, nowMs);
        states.set(key, state);
        leases.set(key, lease);
      }
      return { leases, decided: [] };
    },
  };
  return store;
}

/** Creates a permit with one rule for every provider, on a fake clock. */
export function createPermit(
  clock: FakeClock,
  limits: Partial<TrafficRule>,
  store = createStore(),
  labels = ['relay.test:25'],
  kind = 'relay',
) {
  const relays = labels.map((label) => ({ label, source: { name: label, kind, pool: 'default' } }) as never);
  const permit = new Permit({
    store,
    smtp: { capacity: 60, isClosed: () => false, relays: () => relays },
    metrics: { providerPaused: () => undefined, providerRecovered: () => undefined, warmUpDecided: () => undefined },
    logger: createLogger({ level: 'silent', name: 'test' }),
    resolver: { mx: async () => ({ kind: 'absent', isNameUnknown: false }) },
    shaping: { defaults: 'none', rules: [{ provider: '*', source: '*', ...limits }] },
  });
  const ask = (recipient: string) => permit.ask({ projectId: 'p', owner: 'p', recipient, stream: 'marketing', signal });
  /** Runs work on the fake clock. @returns its result, and how long it took */
  async function timed<T>(work: Promise<T>, longestMs = 2_000): Promise<{ result: T; ms: number }> {
    const startMs = performance.now();
    const ended: { result: T; ms: number }[] = [];
    void work.then((result) => ended.push({ result, ms: performance.now() - startMs }));
    await clock.pass();
    for (let ms = 0; ms < longestMs && ended.length === 0; ms += 5) await clock.pass(5);
    const [first] = ended;
    if (!first) throw new Error('It still waits');
    return first;
  }
  return { permit, store, ask, timed };
}
