import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../../tests/support/fake-clock.ts';
import { createLogger } from '../../platform/logger.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import type { AnswerCount, PermitStore, SentCount } from '../ports.ts';
import type { SmtpOutcome } from '../transport/smtp-pool.ts';
import type { Source } from '../transport/smtp-url.ts';
import type { CountedAnswers } from './answers.ts';
import { afterReport, isUntroubled, UNTROUBLED, type ProviderHealth } from './health.ts';
import { Permit } from './permit.ts';

const clock = useFakeClock();
const { signal } = new AbortController();

const SPAM: SmtpOutcome = {
  kind: 'rejected',
  stage: 'data',
  replyCode: 554,
  enhancedCode: '5.7.1',
  reply: '554 5.7.1 Message rejected as spam',
};
const BLOCKED: SmtpOutcome = { ...SPAM, stage: 'rcpt', reply: '554 5.7.1 Your address is on a blocklist' };
const DEAD: SmtpOutcome = { ...BLOCKED, replyCode: 550, enhancedCode: '5.1.1', reply: '550 5.1.1 User unknown' };
const ACCEPTED: SmtpOutcome = { kind: 'accepted', reply: '250 2.0.0 OK' };
const A = 'a.relay.test:25';
const B = 'b.relay.test:25';
const sourceAt = (label: string): Source => ({ name: label, kind: 'relay', pool: 'default' });
const NO_DNS = { mx: async () => ({ kind: 'failed', reason: 'none' }) as const };
const via = (relay: string, outcome: SmtpOutcome): SmtpOutcome => ({ ...outcome, relay });

/** A store in memory that all permits of a test share. */
function createStore() {
  const states = new Map<string, ProviderHealth>();
  const sent: SentCount[] = [];
  const answers: AnswerCount[] = [];
  const store: PermitStore & { isAway: boolean; exchanges: number; sent: SentCount[]; answers: AnswerCount[] } = {
    isAway: false,
    exchanges: 0,
    sent,
    answers,
    policyOf: async () => ({ ratePerSecond: 0, knownMs: Date.now() }),
    reserve: async () => 1_500,
    note: async () => undefined,
    async exchange(_relays, reports, counts) {
      store.exchanges += 1;
      if (store.isAway) throw new Error('away');
      const nowMs = performance.now();
      const changes = [...reports].map(([key, report]) => {
        const before = states.get(key) ?? UNTROUBLED;
        return { key, before, after: afterReport(before, report, nowMs) };
      });
      for (const { key, after } of changes) {
        if (isUntroubled(after)) states.delete(key);
        else states.set(key, after);
      }
      sent.push(...counts.sent);
      answers.push(...counts.answers);
      return { nowMs, states: new Map(states), changes, drained: new Set(), warming: new Set() };
    },
    lend: async () => ({ leases: new Map(), decided: [] }),
  };
  return store;
}

/** The permit of a worker, with what it logs and counts. */
function createPermit(relays: string[] = [A], store = createStore()) {
  const pauses: string[] = [];
  const logs: string[] = [];
  const smtp = {
    capacity: 10,
    isClosed: () => false,
    relays: () => relays.map((label) => ({ label, source: sourceAt(label) }) as never),
  };
  const metrics = {
    providerPaused: (relay: string, provider: string) => void pauses.push(`${relay} ${provider}`),
    providerRecovered: () => undefined,
    warmUpDecided: () => undefined,
  };
  const logger = createLogger({ level: 'warn', name: 'test' }, { write: (line) => logs.push(line) });
  const permit = new Permit({ store, smtp, metrics, logger, resolver: NO_DNS, shaping: { defaults: 'mx', rules: [] } });

  /** Asks for an email, which the first relay that it may use answers. @returns that relay, or the hold */
  async function send(recipient: string, answer: SmtpOutcome | ((relay: string) => SmtpOutcome), projectId = 'p') {
    await permit.ready();
    const grant = await permit.ask({ projectId, recipient, owner: 'o', stream: 'transactional', signal });
    if ('until' in grant || 'hold' in grant) return grant as Hold;
    const relay = relays.find((each) => !grant.avoid?.has(each)) ?? '';
    const outcome = typeof answer === 'function' ? answer(relay) : answer;
    return { relay, probes: grant.probes, ...permit.settle(grant, via(relay, outcome)) };
  }
  async function sendMany(
    count: number,
    answer: SmtpOutcome,
    projectId = 'p',
    addressOf = (n: number) => `reader${n}@home.test`,
  ) {
    for (let n = 0; n < count; n++) await send(addressOf(n), answer, projectId);
    await clock.pass();
  }
  return { permit, store, pauses, logs, send, sendMany };
}

describe('a provider that refuses the messages of one project', () => {
  it('holds the emails of that project only, probes with one, and sends on when that is accepted', async () => {
    const { permit, send, sendMany } = createPermit();
    expect(await send('reader@home.test', SPAM, 'loud')).toMatchObject({ verdict: { kind: 'sender', mayPass: false } });
    await sendMany(12, SPAM, 'loud');
    expect(permit.isPaused('reader@home.test', 'loud')).toBe(true);
    expect(await send('reader@home.test', ACCEPTED, 'quiet')).toMatchObject({ relay: A });
    expect(await send('reader@home.test', ACCEPTED, 'loud')).toMatchObject({
      level: 'provider',
      reason: 'provider paused',
      provider: 'home.test',
      relay: A,
      words: expect.stringContaining('554'),
    });
    await clock.pass(5_000);
    expect(await send('reader@home.test', ACCEPTED, 'loud')).toMatchObject({ probes: ['* home.test loud'] });
    await clock.pass();
    expect(permit.isPaused('reader@home.test', 'loud')).toBe(false);
  });

  it('holds the emails of all projects when its refusals are about our servers and others get them, too', async () => {
    const { permit, send, sendMany } = createPermit();
    await send('reader@home.test', BLOCKED, 'quiet');
    await sendMany(12, BLOCKED, 'loud');
    expect(permit.isPaused('reader@home.test', 'quiet')).toBe(true);
  });
});

describe('refusals that only one project gets', () => {
  it('hold its emails to the provider and through the relay, and none of other projects', async () => {
    const { permit, send, sendMany } = createPermit();
    await sendMany(36, BLOCKED, 'loud', (n) => `reader${n}@own${n % 3}.test`);
    for (const address of ['reader@home.test', 'reader@own0.test']) {
      expect(permit.isPaused(address, 'quiet')).toBe(false);
      expect(await send(address, ACCEPTED, 'quiet')).toMatchObject({ relay: A });
      expect(await send(address, ACCEPTED, 'loud')).toHaveProperty('until');
    }
  });
});

describe('an address whose server always says that emails come too fast', () => {
  it('is deferred as any other, and slows down nobody', async () => {
    const { send, sendMany } = createPermit();
    for (const reply of ['421 4.7.0 rate limited', '450 4.7.1 too many messages', '452 4.3.1 message limit exceeded']) {
      for (let n = 0; n < 5; n++) {
        const answer = await send('slow@home.test', { kind: 'deferred', stage: 'rcpt', replyCode: 450, reply });
        expect(answer).toEqual({ relay: A, probes: undefined });
        await sendMany(20, ACCEPTED);
      }
    }
    expect(await send('reader@home.test', ACCEPTED)).toMatchObject({ relay: A });
  });
});

it('an email whose servers are left alone waits for them without a try, but not twice in a row', async () => {
  const { permit, store } = createPermit();
  const asked: SmtpOutcome = {
    kind: 'deferred',
    stage: 'rcpt',
    replyCode: 451,
    enhancedCode: '4.4.1',
    reply: '451 4.4.1 Away',
  };
  const unaskedUntilMs = Date.now() + 15_000;
  const unasked: SmtpOutcome = { ...asked, unaskedUntilMs };
  const spared = { firstMs: 1, bySource: {}, isSpared: true as const };
  async function tryIt(answered: CountedAnswers | null, outcome: SmtpOutcome) {
    const email = { dueMs: 1, answered };
    const grant = await permit.ask({
      projectId: 'p',
      recipient: 'a@b.test',
      owner: 'o',
      stream: 'transactional',
      signal,
      email,
    });
    if (!('recipient' in grant)) throw new Error('not granted');
    return permit.settle(grant, via(A, outcome));
  }
  await permit.ready();
  expect(await tryIt(null, unasked)).toEqual({
    hold: {
      level: 'provider',
      reason: 'deferred',
      words: '451 4.4.1 Away',
      provider: 'b.test',
      until: new Date(unaskedUntilMs).toISOString(),
    },
    kept: { answered: spared },
  });
  await clock.pass(1_000);
  expect(store.answers).toEqual([]);
  for (const [before, outcome] of [[spared, unasked] as const, [null, asked] as const]) {
    const { hold, kept } = await tryIt(before, outcome);
    expect(hold).toBeUndefined();
    expect(kept?.answered).not.toHaveProperty('isSpared');
    expect(kept?.answered?.bySource[A]?.as).toEqual(['deferredOther']);
  }
  await clock.pass(1_000);
  expect(store.answers).toMatchObject([{ answers: { offered: 2, deferredOther: 2 } }]);
});

describe('a provider that takes fewer emails', () => {
  const slow: SmtpOutcome = {
    kind: 'deferred',
    stage: 'rcpt',
    replyCode: 421,
    reply: '421 4.7.0 You are rate limited',
  };

  it('gets them at its pace, and the others are held', async () => {
    const { send, sendMany } = createPermit();
    await sendMany(20, ACCEPTED);
    await sendMany(2, slow, 'p', (n) => `slow${n}@home.test`);
    expect(await send('late@home.test', slow)).toMatchObject({
      hold: { words: 'The provider takes fewer emails at a time' },
    });
    await clock.pass(1_000);
    const answers: unknown[] = [];
    for (let n = 0; n < 40; n++) void send(`reader${n}@home.test`, ACCEPTED).then((answer) => answers.push(answer));
    await clock.pass(300);
    const held = answers.filter((answer) => typeof answer === 'object' && answer !== null && 'until' in answer);
    expect(answers).toHaveLength(40);
    expect(held.length).toBeGreaterThan(30);
    expect(held[0]).toMatchObject({ level: 'provider', words: 'The provider takes fewer emails at a time' });
  });
});

describe('the exchange with other workers', () => {
  it('happens once a second while emails are sent, and tells this one what another found', async () => {
    const first = createPermit();
    const second = createPermit([A], first.store);
    await second.send('reader@home.test', ACCEPTED);
    await first.sendMany(12, BLOCKED);
    const before = first.store.exchanges;
    await clock.pass(10_000);
    expect(first.store.exchanges - before).toBe(20);
    expect(second.permit.isPaused('reader@home.test', 'p')).toBe(true);
    await clock.pass(60_000);
    expect(first.store.exchanges - before).toBeLessThan(60);
  });

  it('grants a probe to one worker, and two probes that are due at once to the same', async () => {
    const first = createPermit();
    const second = createPermit([A], first.store);
    await second.permit.ready();
    await first.sendMany(24, BLOCKED, 'p', (n) => `reader${n}@${n % 2 ? 'one' : 'two'}.test`);
    await clock.pass(6_000);
    const answers = await Promise.all(['one', 'two'].map((name) => first.send(`probe@${name}.test`, BLOCKED)));
    expect(answers.map((answer) => 'probes' in answer && answer.probes?.length)).toEqual([1, 1]);
    expect(await second.send('probe@one.test', BLOCKED)).toHaveProperty('until');
  });

  it('counts accepted emails, also those of a time without PostgreSQL', async () => {
    const { store, sendMany } = createPermit();
    await sendMany(3, ACCEPTED);
    store.isAway = true;
    await clock.pass(2_000);
    store.isAway = false;
    await clock.pass(1_000);
    expect(store.sent).toEqual([{ projectId: 'p', provider: 'home.test', count: 3 }]);
  });
});

describe('a relay that refuses', () => {
  const refusingAt =
    (...relays: string[]) =>
    (relay: string) =>
      relays.includes(relay) ? BLOCKED : ACCEPTED;

  it('gets no email for that provider, other relays do, and one email probes whether it accepts them again', async () => {
    const { permit, send } = createPermit([A, B]);
    for (let n = 0; n < 12; n++) await send(`reader${n}@one.test`, refusingAt(A));
    await clock.pass();
    expect(await send('next@one.test', refusingAt(A))).toMatchObject({ relay: B });
    expect(permit.isPaused('reader@one.test', 'p')).toBe(false);
    expect(await send('reader@two.test', refusingAt(A))).toMatchObject({ relay: A });
    await clock.pass(5_000);
    expect(await send('later@one.test', ACCEPTED)).toMatchObject({ relay: A, probes: [`${A} one.test`] });
    await clock.pass();
    expect(await send('later@one.test', ACCEPTED)).toEqual({ relay: A, probes: undefined });
  });

  it('gets its emails back as those that go to another relay, and a probe that it refuses is no attempt', async () => {
    const { permit, send } = createPermit([A, B]);
    for (let n = 0; n < 12; n++) await send(`reader${n}@one.test`, refusingAt(A));
    await clock.pass(5_000);
    expect(await send('probe@one.test', refusingAt(A))).toMatchObject({ hold: { provider: 'one.test', relay: A } });
    const grant = await permit.ask({
      projectId: 'p',
      owner: 'o',
      recipient: 'next@one.test',
      stream: 'transactional',
      signal,
    });
    if ('until' in grant || 'hold' in grant) throw new Error('held');
    expect(permit.unreachable(grant)).toMatchObject({
      relay: B,
      words: expect.stringContaining(`No connection to ${B}`),
    });
  });

  it('gets no email at all when it refuses those of many providers', async () => {
    const { pauses, logs, send } = createPermit([A, B]);
    for (let n = 0; n < 12; n++) await send(`reader@small${n}.test`, refusingAt(A));
    await clock.pass();
    expect(await send('reader@unknown.test', refusingAt(A))).toMatchObject({ relay: B });
    expect(pauses).toEqual([`${A} *`]);
    expect(logs.join('')).toContain(`"relay":"${A}"`);
  });

  it('causes fewer than twenty bounces when it calls all addresses dead', async () => {
    const { permit, send } = createPermit([A, B]);
    let hard = 0;
    for (let n = 0; n < 60; n++) {
      const answer = await send(`reader@company${n}.test`, DEAD);
      if ('verdict' in answer && answer.verdict?.kind === 'hard') hard += 1;
    }
    expect(hard).toBeLessThan(20);
    expect(permit.isPaused('reader@company0.test', 'p')).toBe(false);
  });

  it('holds emails when there is no other relay, and the hold names the relays', async () => {
    const { send } = createPermit([A, B]);
    for (let n = 0; n < 24; n++) await send(`reader${n}@every.test`, refusingAt(A, B));
    await clock.pass();
    expect(await send('next@every.test', ACCEPTED)).toMatchObject({ provider: 'every.test', relay: `${A}, ${B}` });
  });
});

describe('the sending speed of a project', () => {
  it('is booked from the time at which it is free', async () => {
    const { permit } = createPermit();
    const booking = await permit.book({ projectId: 'p', count: 40, ratePerSecond: 10, isUrgent: false });
    expect(booking).toMatchObject({ count: 40, ratePerSecond: 10 });
    expect(booking.startsAtMs - Date.now()).toBeGreaterThan(1_000);
  });
});
