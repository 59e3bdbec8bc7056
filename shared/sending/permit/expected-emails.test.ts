import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../../tests/support/fake-clock.ts';
import { createPermit as createPermitOn, createStore, STORE_MS } from '../../../tests/support/permits.ts';
import type { TrafficRule } from '../../pure/traffic-rules.ts';
import type { Grant } from './question.ts';

const clock = useFakeClock();
const LONG = { perMinute: 100_000, perDay: 10_000_000 };
const createPermit = (limits: Partial<TrafficRule>, store?: ReturnType<typeof createStore>, labels?: string[]) =>
  createPermitOn(clock, limits, store, labels);

const addresses = (count: number, domains: number): string[] =>
  Array.from({ length: count }, (_, n) => `reader${n}@d${n % domains}.test`);

describe('emails that a campaign announces', () => {
  it.each([[1], [3]])('wait together for one exchange, and then none of them waits, with %d relays', async (count) => {
    const labels = Array.from({ length: count }, (_, n) => `relay${n}.test:25`);
    const { permit, store, ask, timed } = createPermit({ perSecond: 50, connections: 10, ...LONG }, undefined, labels);
    await timed(permit.ready());
    const before = store.loans;
    const recipients = addresses(250, 200);
    const announced = await timed(permit.expect('p', 'marketing', recipients));
    expect(announced.ms).toBeLessThanOrEqual(2 * STORE_MS);
    for (const recipient of recipients) {
      const { result, ms } = await timed(ask(recipient));
      expect(ms).toBe(0);
      if ('until' in result || 'hold' in result) throw new Error(`${recipient} is held`);
      permit.settle(result, { kind: 'accepted', reply: '250 OK' });
    }
    expect(store.loans - before).toBe(1);
  });

  it('cost one row of the store for each provider, and none afterwards', async () => {
    const { permit, store, ask, timed } = createPermit({ perSecond: 5_000, ...LONG });
    const recipients = addresses(200, 100);
    await timed(permit.expect('p', 'marketing', recipients));
    for (const recipient of recipients) {
      const { result } = await timed(ask(recipient));
      if ('until' in result || 'hold' in result) throw new Error(`${recipient} is held`);
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
      expect([ms, 'until' in result || 'hold' in result]).toEqual([0, false]);
      await timed(permit.ready());
    }
  });

  it('keep what was lent for them while they wait for their turn', async () => {
    const { permit, store, ask, timed } = createPermit({ connections: 10 });
    const recipients = addresses(8, 2);
    await timed(permit.expect('p', 'marketing', recipients));
    for (let at = 0; at < 3; at++) {
      await clock.pass(700);
      await timed(permit.ready());
    }
    const before = store.loans;
    for (const recipient of recipients) expect((await timed(ask(recipient))).result).toHaveProperty('rules');
    expect(store.loans).toBe(before);
  });

  it('get a new lease in place of one that ends before they go', async () => {
    const { permit, ask, timed } = createPermit({ perSecond: 5_000, ...LONG });
    for (const waitMs of [0, 19_500]) {
      await clock.pass(waitMs);
      await timed(permit.expect('p', 'marketing', ['reader@d0.test']));
    }
    await clock.pass(600);
    const { result, ms } = await timed(ask('reader@d0.test'));
    expect([ms, 'until' in result || 'hold' in result]).toEqual([0, false]);
  });

  it('that do not go give back what was lent for them', async () => {
    const first = createPermit({ perDay: 10 });
    const second = createPermit({ perDay: 10 }, first.store);
    await first.timed(first.permit.expect('p', 'marketing', addresses(10, 1)));
    expect((await second.timed(second.ask('reader@d0.test'))).result).toHaveProperty('hold');
    for (let at = 0; at < 5; at++) {
      await first.timed(first.permit.ready());
      await clock.pass(1_000);
    }
    expect((await second.timed(second.ask('reader@d0.test'))).result).not.toHaveProperty('hold');
  });

  it('are not asked for when no rule is about them', async () => {
    const { permit, store, timed } = createPermit({ messagesPerConnection: 5 });
    await timed(permit.expect('p', 'marketing', addresses(10, 10)));
    expect(store.loans).toBe(0);
  });
});

describe('emails that wait for a connection', () => {
  const granted = (result: object): result is Grant => 'provider' in result && !('until' in result);

  it.each([
    ['relay', 2],
    ['mx', 6],
  ])('of a source of kind %s are more than %d at a time, and hear when one is free', async (kind, most) => {
    const { permit, store, ask, timed } = createPermitOn(clock, { connections: 2 }, createStore(), ['source'], kind);
    const freed: string[] = [];
    const unwatch = permit.watch('p', (key) => freed.push(key));
    const recipients = addresses(most, 1);
    await timed(permit.expect('p', 'marketing', recipients));
    const grants: object[] = [];
    for (const recipient of recipients) grants.push((await timed(ask(recipient))).result);
    expect(grants.every(granted)).toBe(true);
    expect([store.rows, granted((await timed(ask('late@d0.test'))).result)]).toEqual([1, false]);
    freed.length = 0;
    const [first] = grants.filter(granted);
    if (first) permit.settle(first, { kind: 'accepted', reply: '250 OK' });
    expect(freed).toEqual(['source d0.test']);
    expect(granted((await timed(ask('late@d0.test'))).result)).toBe(true);
    unwatch();
  });
});

describe('an email whose first relay lacks what it needs', () => {
  const about = {
    projectId: 'p',
    owner: 'p',
    recipient: 'a@d0.test',
    stream: 'marketing',
    signal: AbortSignal.timeout(60_000),
  } as const;
  const labels = ['one.test:25', 'two.test:25'];

  it('goes to the other ones, within their rules, and to none when each lacks it', async () => {
    const { permit, timed } = createPermit({ perSecond: 50, ...LONG }, undefined, labels);
    await timed(permit.ready());
    const { result } = await timed(permit.ask(about, ['one.test:25']));
    expect(result).toMatchObject({
      avoid: new Set(['one.test:25']),
      rules: { uses: [{ key: 'two.test:25 d0.test' }] },
    });
    expect((await timed(permit.ask(about, labels))).result).toBeUndefined();
  });

  it('waits for one that is drained', async () => {
    const store = createStore();
    store.drained.add('two.test:25');
    const { permit, timed } = createPermit({ perSecond: 50, ...LONG }, store, labels);
    await timed(permit.ready());
    expect((await timed(permit.ask(about, ['one.test:25']))).result).toMatchObject({
      reason: 'no source',
      words: expect.stringContaining('two.test:25'),
    });
  });
});
