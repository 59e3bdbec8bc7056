import { describe, expect, it } from '@jest/globals';
import { createClientLimits } from './client-limits.ts';

const MINUTE_MS = 60_000;

function createLimits({ unprovenPerMinute = 1_000, connectionsMax = 100 } = {}) {
  let nowMs = 1_000 * MINUTE_MS;
  const limits = createClientLimits({ unprovenPerMinute, connectionsMax, now: () => nowMs });
  return {
    ...limits,
    isLetIn: (address: string) => limits.enter(address) === 'entered',
    pass: (ms: number) => (nowMs += ms),
  };
}

/** How many of this many attempts succeed. */
const countOf = (times: number, attempt: (index: number) => boolean) =>
  Array.from({ length: times }, (_, index) => attempt(index)).filter(Boolean).length;

describe('createClientLimits', () => {
  it('limits a stranger to so many connections and messages in a minute, and limits nobody else', () => {
    const limits = createLimits({ unprovenPerMinute: 10 });
    expect(limits.enter('192.0.2.1')).toBe('entered');
    expect(countOf(20, () => limits.beginMessage('192.0.2.1'))).toBe(9);
    expect(limits.enter('192.0.2.1')).toBe('refused');
    expect(limits.enter('192.0.2.2')).toBe('entered');
    limits.pass(MINUTE_MS);
    expect(limits.enter('192.0.2.1')).toBe('entered');
  });

  it('does not bound a server that returns reports of mail of ours, whether or not it keeps its connections', () => {
    const limits = createLimits({ unprovenPerMinute: 10 });
    const relay = '192.0.2.1';
    const oneByOne = countOf(1_000, (index) => {
      const isTaken = limits.isLetIn(relay) && limits.beginMessage(relay);
      limits.prove(relay, `single ${index}`);
      limits.leave(relay);
      return isTaken;
    });
    expect(oneByOne).toBe(1_000);
    expect(limits.isLetIn(relay)).toBe(true);
    const inOne = countOf(1_000, (index) => {
      const isTaken = limits.beginMessage(relay);
      limits.prove(relay, `kept ${index}`);
      return isTaken;
    });
    expect(inOne).toBe(1_000);
  });

  it('believes the address of one email a few times only', () => {
    const limits = createLimits({ unprovenPerMinute: 10 });
    const taken = countOf(100, () => {
      const isTaken = limits.isLetIn('192.0.2.1') && limits.beginMessage('192.0.2.1');
      limits.prove('192.0.2.1', 'the same');
      limits.leave('192.0.2.1');
      return isTaken;
    });
    expect(taken).toBe(4 + 5);
  });

  it('gives a stranger five connections at once, and one more for each email it proves, up to fifty', () => {
    const limits = createLimits();
    expect(countOf(10, () => limits.isLetIn('192.0.2.1'))).toBe(5);
    expect(limits.enter('192.0.2.1')).toBe('full');
    limits.leave('192.0.2.1');
    expect(countOf(10, () => limits.isLetIn('192.0.2.1'))).toBe(1);
    for (let i = 0; i < 3; i++) limits.prove('192.0.2.1', 'the same');
    expect(countOf(10, () => limits.isLetIn('192.0.2.1'))).toBe(1);
    for (let i = 0; i < 200; i++) limits.prove('192.0.2.1', `mail ${i}`);
    expect(countOf(100, () => limits.isLetIn('192.0.2.1'))).toBe(50 - 6);
  });

  it('keeps a quarter of all places for clients that have proved an email, for an hour each', () => {
    const limits = createLimits();
    limits.prove('198.51.100.1', 'a mail');
    const strangers = countOf(200, (index) => limits.isLetIn(`192.0.2.${index % 200}`));
    expect(strangers).toBe(75);
    expect(limits.enter('198.51.100.2')).toBe('full');
    expect(limits.enter('198.51.100.1')).toBe('entered');
    expect(limits.isProven('198.51.100.1')).toBe(true);
    limits.pass(60 * MINUTE_MS);
    expect(limits.isProven('198.51.100.1')).toBe(false);
    expect(limits.enter('198.51.100.1')).toBe('full');
  });

  it('lets one email speak for two clients, so that a leaked address proves no crowd', () => {
    const limits = createLimits();
    for (let i = 1; i <= 20; i++) limits.prove(`192.0.2.${i}`, 'the same');
    expect(countOf(20, (index) => limits.isProven(`192.0.2.${index + 1}`))).toBe(2);
  });

  it('lets a client guess ten recipients, then one a minute, however often it connects', () => {
    const limits = createLimits();
    const guess = (address = '192.0.2.1') => {
      if (!limits.mayGuess(address)) return false;
      limits.countRefusal(address);
      return true;
    };
    expect(countOf(50, () => guess())).toBe(10);
    expect(guess('192.0.2.2')).toBe(true);
    limits.pass(MINUTE_MS);
    expect(countOf(50, () => guess())).toBe(1);
    limits.pass(20 * MINUTE_MS);
    expect(countOf(50, () => guess())).toBe(10);
  });

  it('bounds the octets a stranger sends in a minute', () => {
    const limits = createLimits();
    const mib = 1024 * 1024;
    const send = (address: string) => {
      const isTaken = limits.beginMessage(address);
      if (isTaken) limits.countOctets(address, mib);
      return isTaken;
    };
    expect(countOf(50, () => send('192.0.2.1'))).toBe(9);
    limits.prove('192.0.2.2', 'a mail');
    expect(countOf(50, () => send('192.0.2.2'))).toBe(50);
    limits.pass(MINUTE_MS);
    expect(send('192.0.2.1')).toBe(true);
  });

  it('takes a network of IPv6 for one client, and an IPv4 address for itself in either notation', () => {
    const limits = createLimits();
    expect(countOf(10, (index) => limits.isLetIn(`2001:db8:0:1::${index}`))).toBe(5);
    expect(limits.enter('2001:db8:0:2::1')).toBe('entered');
    expect(countOf(10, () => limits.isLetIn('::ffff:192.0.2.1'))).toBe(5);
    expect(limits.enter('192.0.2.1')).toBe('full');
    expect(limits.enter('::ffff:192.0.2.2')).toBe('entered');
  });

  it('remembers a bounded number of clients', () => {
    const limits = createLimits();
    for (let i = 0; i < 10; i++) limits.countRefusal('192.0.2.1');
    expect(limits.mayGuess('192.0.2.1')).toBe(false);
    for (let i = 0; i < 10_001; i++) limits.countRefusal(`198.51.${i >> 8}.${i & 255}`);
    expect(limits.mayGuess('192.0.2.1')).toBe(true);
  });
});
