import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createLogger } from '../../platform/logger.ts';
import { createDeliveryMetrics } from '../delivery-metrics.ts';
import type { SmtpOutcome } from '../transport/smtp-pool.ts';
import { createPermitStore } from '../../domain/emails/permit-store.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { createProviderExchange, type ProviderExchange } from './provider-exchange.ts';
import { createProviderGuard, type ProviderGuard } from './provider-guard.ts';

const SPAM: SmtpOutcome = {
  ...{ kind: 'rejected', stage: 'data', replyCode: 554, enhancedCode: '5.7.1' },
  reply: '554 5.7.1 Message rejected as spam',
};
const BLOCKED: SmtpOutcome = { ...SPAM, stage: 'rcpt', reply: '554 5.7.1 Your address is on a blocklist' };
const ACCEPTED: SmtpOutcome = { kind: 'accepted', reply: '250 2.0.0 OK' };

let database: TestDatabase;
let isOver = false;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  isOver = true;
  await database.drop();
});

const { signal } = new AbortController();
const envelopeTo = (to: string) => ({ from: 'news@example.com', to });

const outcomes = { accepted: 0, rejected: 0, deferred: 0, interrupted: 0 };
const relayNamed = (label: string) => ({ label, connections: 0, isDown: false, isInClear: false, outcomes });

/** The counts and log lines of the guards. */
const registry = new Registry();
const metrics = createDeliveryMetrics(registry);
const logs: string[] = [];

function createExchange(...relays: string[]): ProviderExchange {
  return createProviderExchange({
    ...{
      store: createPermitStore(() => database.orm.em.fork()),
      smtp: { isClosed: () => isOver, relays: () => relays.map(relayNamed) },
    },
    metrics,
    logger: createLogger({ level: 'warn', name: 'test' }, { write: (line) => logs.push(line) }),
  });
}

function createGuard(...relays: string[]): ProviderGuard {
  return createProviderGuard(createExchange(...relays), { add: () => undefined }, 10);
}

/**
 * Sends emails of a project, all with the same outcome.
 * @returns the assessment of the last one
 */
async function send(guard: ProviderGuard, projectId: string, count: number, outcome: SmtpOutcome) {
  await guard.ready();
  let last;
  for (let n = 0; n < count; n++) {
    const envelope = envelopeTo(`reader${n}@home.test`);
    const admission = await guard.admit(envelope, projectId, signal);
    if (!('wait' in admission)) last = guard.settle(envelope, admission, outcome);
  }
  return last;
}

describe('a provider that refuses the messages of one project', () => {
  it('holds the emails of that project only, probes with one, and sends on when that is accepted', async () => {
    const guard = createGuard('content:25');
    const address = 'reader@home.test';
    expect((await send(guard, 'loud', 1, SPAM))?.verdict).toMatchObject({ kind: 'sender', mayPass: false });
    await send(guard, 'loud', 12, SPAM);
    await eventually(async () => guard.isPaused(address, 'loud'));
    expect(guard.isPaused(address, 'quiet')).toBe(false);
    expect(await guard.admit(envelopeTo(address), 'quiet', signal)).toMatchObject({ provider: 'home.test' });
    expect(await guard.admit(envelopeTo(address), 'loud', signal)).toMatchObject({
      wait: { provider: 'home.test', reason: expect.stringContaining('554') },
    });
    await eventually(async () => {
      await send(guard, 'loud', 1, ACCEPTED);
      return !guard.isPaused(address, 'loud');
    }, 20_000);
  }, 40_000);

  it('holds the emails of all projects when its refusals are about our servers and others get them, too', async () => {
    const guard = createGuard('servers:25');
    await send(guard, 'quiet', 1, BLOCKED);
    await send(guard, 'loud', 12, BLOCKED);
    await eventually(async () => guard.isPaused('reader@home.test', 'quiet'));
  });
});

describe('refusals that only one project gets', () => {
  it('hold its emails to the provider and through the relay, and none of other projects', async () => {
    const guard = createGuard('own:25');
    await guard.ready();
    for (let n = 0; n < 36; n++) {
      const envelope = envelopeTo(`reader${n}@own${n % 3}.test`);
      const admission = await guard.admit(envelope, 'loud', signal);
      if (!('wait' in admission)) guard.settle(envelope, admission, BLOCKED);
    }
    await eventually(async () => guard.isPaused('reader@home.test', 'loud'));
    for (const address of ['reader@home.test', 'reader@own0.test']) {
      expect(guard.isPaused(address, 'quiet')).toBe(false);
      expect(await guard.admit(envelopeTo(address), 'quiet', signal)).toMatchObject({ projectId: 'quiet' });
      expect(await guard.admit(envelopeTo(address), 'loud', signal)).toHaveProperty('wait');
    }
  });
});

describe('an address whose server always says that emails come too fast', () => {
  const tooFast = (reply: string): SmtpOutcome => ({ kind: 'deferred', stage: 'rcpt', replyCode: 450, reply });

  it('is deferred as any other, and slows down nobody', async () => {
    const guard = createGuard('limit:25');
    await guard.ready();
    const slow = envelopeTo('slow@limit.test');
    for (const reply of ['421 4.7.0 rate limited', '450 4.7.1 too many messages', '452 4.3.1 message limit exceeded']) {
      for (let n = 0; n < 5; n++) {
        const admission = await guard.admit(slow, 'project', signal);
        if ('wait' in admission) throw new Error('held');
        expect(guard.settle(slow, admission, tooFast(reply))).toEqual({});
        await send(guard, 'project', 20, ACCEPTED);
        await guard.ready();
      }
    }
    expect(await guard.admit(envelopeTo('reader@limit.test'), 'project', signal)).not.toHaveProperty('wait');
  });
});

describe('probes of two providers that are due at once', () => {
  it('are both granted, also when an exchange is under way', async () => {
    const exchange = createExchange('probes:25');
    const guard = createProviderGuard(exchange, { add: () => undefined }, 10);
    const keys = ['one.test', 'two.test'].map((provider) => `probes:25 ${provider}`);
    await guard.ready();
    for (let n = 0; n < 24; n++) {
      const envelope = envelopeTo(`reader${n}@${n % 2 ? 'one' : 'two'}.test`);
      const admission = await guard.admit(envelope, `project${n % 4}`, signal);
      if (!('wait' in admission)) guard.settle(envelope, admission, BLOCKED);
    }
    await eventually(async () => {
      await guard.ready();
      return keys.every((key) => (exchange.stateOf(key)?.pause?.untilMs ?? Infinity) < exchange.nowMs());
    }, 20_000);
    exchange.soon();
    expect(await Promise.all(keys.map((key) => exchange.takeProbe(key)))).toEqual([true, true]);
  }, 30_000);
});

describe('a relay that refuses', () => {
  let [A, B] = ['', ''];
  let count = 0;
  beforeEach(() => {
    count += 1;
    [A, B] = [`a${count}.relay.test:25`, `b${count}.relay.test:25`];
  });
  const via = (relay: string, outcome: SmtpOutcome): SmtpOutcome => ({ ...outcome, relay });

  /** Sends emails. Each goes to the first relay that it does not avoid, which decides the outcome. */
  async function sendVia(guard: ProviderGuard, to: string, answer: (relay: string) => SmtpOutcome) {
    await guard.ready();
    const admission = await guard.admit(envelopeTo(to), 'project', signal);
    if ('wait' in admission) return admission;
    const relay = [A, B].find((each) => !admission.avoid?.has(each)) ?? '';
    guard.settle(envelopeTo(to), admission, answer(relay));
    return relay;
  }
  const refusingAt =
    (...relays: string[]) =>
    (relay: string) =>
      via(relay, relays.includes(relay) ? BLOCKED : ACCEPTED);

  it('gets no email for that provider, other relays do, and one email probes whether it accepts them again', async () => {
    const guard = createGuard(A, B);
    for (let n = 0; n < 12; n++) await sendVia(guard, `reader${n}@one.test`, refusingAt(A));
    await eventually(async () => (await sendVia(guard, 'next@one.test', refusingAt(A))) === B);
    expect(guard.isPaused('reader@one.test', 'project')).toBe(false);
    expect(await sendVia(guard, 'reader@two.test', refusingAt(A))).toBe(A);
    const seen: unknown[] = [];
    await eventually(async () => {
      seen.push(await sendVia(guard, 'later@one.test', refusingAt()));
      return seen.at(-1) === A && seen.at(-2) === A;
    }, 20_000);
  }, 40_000);

  it('gets no email at all when it refuses those of many providers', async () => {
    const guard = createGuard(A, B);
    for (let n = 0; n < 12; n++) await sendVia(guard, `reader@small${n}.test`, refusingAt(A));
    await eventually(async () => (await sendVia(guard, 'reader@unknown.test', refusingAt(A))) === B);
    expect(await registry.metrics()).toContain(`everpost_provider_pauses_total{relay="${A}",provider="all"} 1`);
    expect(logs.join('')).toContain(`"relay":"${A}"`);
  });

  it('causes fewer than twenty bounces when it calls all addresses dead', async () => {
    const guard = createGuard(A, B);
    const dead: SmtpOutcome = { ...BLOCKED, replyCode: 550, enhancedCode: '5.1.1', reply: '550 5.1.1 User unknown' };
    const kinds: unknown[] = [];
    for (let n = 0; n < 60; n++) {
      const envelope = envelopeTo(`reader@company${n}.test`);
      const admission = await guard.admit(envelope, 'project', signal);
      if (!('wait' in admission)) kinds.push(guard.settle(envelope, admission, via(A, dead)).verdict?.kind);
    }
    expect(kinds.filter((kind) => kind === 'hard').length).toBeLessThan(20);
    expect(guard.isPaused('reader@company0.test', 'project')).toBe(false);
  });

  it('holds emails when there is no other relay, and the wait names the relays', async () => {
    const guard = createGuard(A, B);
    let last: unknown;
    await eventually(async () => {
      for (let n = 0; n < 12; n++) last = await sendVia(guard, `reader${n}@every.test`, refusingAt(A, B));
      return typeof last === 'object';
    });
    expect(last).toMatchObject({ wait: { provider: 'every.test', relay: `${A}, ${B}` } });
  });
});
