import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { FaultyRelayOptions, RelayFault, RelayStep } from '../../../tests/support/faulty-relay.ts';
import type { MailHost } from '../../../tests/support/mail-hosts.ts';
import type { SmtpUrgency } from '../transport/smtp-pool.ts';
import { useMailWorld } from '../../../tests/support/mx-pools.ts';

const { world, poolOf, send, fresh } = useMailWorld();

const WITH_TLS = { extensions: () => ['STARTTLS'] };
/** A host with its own words at one step. */
const saying = (at: RelayStep, text: string, isLast = false): FaultyRelayOptions => ({
  says: ({ step }) => (step === at ? { text, isLast } : undefined),
});

describe('mail goes, where nothing requires TLS, to a host that', () => {
  it.each<[string, FaultyRelayOptions]>([
    ['refuses EHLO with 550', saying('ehlo', '550 5.7.1 No\r\n')],
    ['refuses EHLO with 504', saying('ehlo', '504 Unknown\r\n')],
    ['refuses EHLO for now', saying('ehlo', '451 Later\r\n')],
    ['greets with another positive code', saying('greeting', '250 host\r\n')],
    ['greets twice', saying('greeting', '220 proxy\r\n220 host\r\n')],
    ['greets again before it answers EHLO', saying('ehlo', '220 host\r\n250 host\r\n')],
    ['greets in lines without a code', saying('greeting', '220-host\r\nNo spam!\r\n220 host\r\n')],
    ['answers EHLO in several replies', saying('ehlo', '250 host\r\n250 8BITMIME\r\n250 SIZE 1000\r\n')],
    ['refuses STARTTLS', { ...WITH_TLS, ...saying('starttls', '454 4.7.0 Not now\r\n') }],
    ['refuses STARTTLS and closes', { ...WITH_TLS, ...saying('starttls', '454 4.7.0 Not now\r\n', true) }],
    ['closes instead of STARTTLS', { ...WITH_TLS, ...saying('starttls', '421 4.3.2 Bye\r\n', true) }],
  ])('%s', async (_name, options) => {
    const domain = fresh();
    const host = await world().host(domain, options);
    const pool = poolOf();
    for (const name of ['a', 'b']) expect(await send(pool, `${name}@${domain}`)).toMatchObject({ kind: 'accepted' });
    expect([...host.deliveries().values()]).toEqual([1, 1]);
  });
});

describe('mail goes to the next host, for the reason that the first one gives, when that one', () => {
  it.each<[string, FaultyRelayOptions, string]>([
    ['refuses EHLO and HELO', { fault: ({ step }) => (/^[eh]+lo$/.test(step) ? '5xx' : undefined) }, '554 5.7.1 No'],
    ['refuses EHLO and closes', saying('ehlo', '550 5.7.1 Listed\r\n', true), '550 5.7.1 Listed'],
    ['closes at EHLO', saying('ehlo', '421 4.3.2 Bye\r\n', true), '421 4.3.2 Bye'],
    ['refuses at the greeting', saying('greeting', '454 4.3.2 Later\r\n', true), '454 4.3.2 Later'],
  ])('%s', async (_name, options, reply) => {
    const [alone, domain, next] = [fresh(), fresh(), fresh()];
    await world().host(alone, options);
    await world().host(next);
    world().domain(domain, [10, alone], [20, next]);
    expect(await send(poolOf(), `a@${alone}`)).toMatchObject({ kind: 'deferred', reply });
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'accepted', server: next });
  });
});

const faulty = (at: RelayStep, fault: RelayFault): FaultyRelayOptions => ({
  fault: ({ step }) => (step === at ? fault : undefined),
});

describe('a host whose connection breaks under a message', () => {
  it.each<[string, FaultyRelayOptions]>([
    ['with 421 at MAIL', faulty('mail', '421')],
    ['at RCPT', faulty('rcpt', 'close')],
    ['in the middle of a long content', faulty('content', 'reset')],
    ['by a wrong reply to DATA', saying('data', '250 Ok\r\n')],
  ])('%s, leaves it to the next one at once', async (_name, options) => {
    const [domain, first, next, last] = [fresh(), fresh(), fresh(), fresh()];
    const extensions = (): string[] => [];
    const host = await world().host(first, { ...options, extensions });
    const second = await world().host(next);
    await world().host(last);
    world().domain(domain, [10, first], [20, next], [30, last]);
    const long = Buffer.from('x'.repeat(78).concat('\r\n').repeat(50_000));
    const outcome = await poolOf().send({ from: 'a@sender.test', to: `a@${domain}` }, long, {});
    expect(outcome).toMatchObject({ kind: 'accepted', server: next });
    expect([host.deliveries().size, host.connectionCount(), second.deliveries().size]).toEqual([0, 1, 1]);
  });

  it('breaks that of one other host at most in an attempt', async () => {
    const [domain, ...names] = [fresh(), fresh(), fresh(), fresh()];
    const hosts: MailHost[] = [];
    for (const name of names) hosts.push(await world().host(name, faulty('rcpt', 'close')));
    world().domain(domain, ...names.map((name, n) => [n, name] as const));
    expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'interrupted' });
    expect(hosts.map((host) => host.connectionCount())).toEqual([1, 1, 0]);
  });

  it('may have accepted it after the content: then the next host gets it when it is tried again', async () => {
    const [domain, first, next] = [fresh(), fresh(), fresh()];
    const host = await world().host(first, faulty('end', 'close'));
    await world().host(next);
    world().domain(domain, [10, first], [20, next]);
    const pool = poolOf();
    expect(await send(pool, `a@${domain}`)).toMatchObject({ kind: 'interrupted', mayHaveBeenAccepted: true });
    expect(host.deliveries().size).toBe(1);
    const again = { from: 'a@sender.test', to: `a@${domain}` };
    const outcome = await pool.send(again, Buffer.from('Subject: x\r\n\r\nx\r\n'), { isAlone: true });
    expect(outcome).toMatchObject({ kind: 'accepted', server: next });
  });
});

it('a host that does not ask for the content gets none, because its replies may be those to other commands', async () => {
  const domain = fresh();
  const host = await world().host(domain, { ...saying('data', '250 Ok\r\n'), extensions: () => [] });
  expect(await send(poolOf(), `a@${domain}`)).toMatchObject({ kind: 'interrupted', mayHaveBeenAccepted: false });
  expect(host.deliveries().size).toBe(0);
});

it('an outcome says that no host was asked, because all failed lately, and until when', async () => {
  const domain = fresh();
  const host = await world().host(domain, { fault: ({ step }) => (step === 'greeting' ? '421' : undefined) });
  const pool = poolOf();
  expect(await send(pool, `a@${domain}`)).not.toHaveProperty('unaskedUntilMs');
  const outcome = await send(pool, `b@${domain}`);
  expect(outcome).toMatchObject({ kind: 'deferred', reply: '421 4.3.2 Shutting down' });
  const untilMs = ('unaskedUntilMs' in outcome && outcome.unaskedUntilMs) || 0;
  expect(untilMs - Date.now()).toBeGreaterThan(10_000);
  expect(untilMs - Date.now()).toBeLessThanOrEqual(15_000);
  expect(host.connectionCount()).toBe(1);
});

it('a silent host keeps few messages waiting, the most urgent ones, and others come again', async () => {
  const domain = fresh();
  await world().host(domain, { greetingMs: 17_000 });
  const pool = poolOf({ replyTimeoutMs: 30_000 });
  const sendAs = (name: string, urgency: SmtpUrgency) => {
    const envelope = { from: 'a@sender.test', to: `${name}@${domain}` };
    return pool.send(envelope, Buffer.from('Subject: x\r\n\r\nx\r\n'), { urgency });
  };
  const all = Array.from({ length: 12 }, (_, n) => sendAs(`reader${n}`, 'campaign'));
  const urgent = [sendAs('buyer', 'transactional'), sendAs('member', 'automation')];
  const visitor = sendAs('visitor', 'automation');
  const rest = await Promise.all(all.slice(2));
  const late = await sendAs('late', 'campaign');
  for (const [outcome, ms] of [
    ...[...rest, late].map((each) => [each, 300_000] as const),
    [await visitor, 30_000],
  ] as const) {
    expect(outcome).toMatchObject({ kind: 'deferred', reply: expect.stringContaining('has not answered yet') });
    const waitMs = (('unaskedUntilMs' in outcome && outcome.unaskedUntilMs) || 0) - Date.now();
    expect([waitMs > ms - 10_000, waitMs <= ms]).toEqual([true, true]);
  }
  for (const outcome of await Promise.all(urgent)) expect(outcome).toMatchObject({ kind: 'accepted' });
}, 60_000);

it('a host that takes long for each message gets what it takes, and others wait as long again as it has been silent', async () => {
  const domain = fresh();
  const host = await world().host(domain, { beforeReply: () => delay(13_000) });
  const pool = poolOf({ replyTimeoutMs: 30_000 });
  const startMs = Date.now();
  const all = await Promise.all(
    Array.from({ length: 9 }, (_, n) => send(pool, `reader${n}@${domain}`, undefined, 'campaign')),
  );
  const waiting = all.filter(({ kind }) => kind === 'deferred');
  for (const outcome of waiting) {
    const untilMs = ('unaskedUntilMs' in outcome && outcome.unaskedUntilMs) || 0;
    expect([untilMs > startMs + 20_000, untilMs < startMs + 26_000]).toEqual([true, true]);
  }
  expect(all.filter(({ kind }) => kind === 'accepted')).toHaveLength(4);
  expect(waiting).toHaveLength(5);
  expect([...host.deliveries().values()]).toEqual([1, 1, 1, 1]);
}, 60_000);
