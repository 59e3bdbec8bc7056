import { describe, expect, it } from '@jest/globals';
import { createGuestLimits } from './guest-limits.ts';

const MINUTE_MS = 60_000;

function createLimits({ unitsPerMinute = 1_000, connectionsMax = 100 } = {}) {
  let nowMs = 1_000 * MINUTE_MS;
  const limits = createGuestLimits({ unitsPerMinute, connectionsMax, now: () => nowMs });
  return {
    ...limits,
    isLetIn: (address: string) => limits.enter(address) === 'entered',
    pass: (ms: number) => (nowMs += ms),
  };
}

/** The number of attempts that succeed. */
const countOf = (times: number, attempt: (index: number) => boolean) =>
  Array.from({ length: times }, (_, index) => attempt(index)).filter(Boolean).length;

describe('createGuestLimits', () => {
  it('limits the connections and messages of a guest per minute, and those of no other client', () => {
    const limits = createLimits({ unitsPerMinute: 10 });
    expect(limits.enter('192.0.2.1')).toBe('entered');
    expect(countOf(20, () => limits.beginMessage('192.0.2.1'))).toBe(9);
    expect(limits.enter('192.0.2.1')).toBe('refused');
    expect(limits.enter('192.0.2.2')).toBe('entered');
    limits.pass(MINUTE_MS);
    expect(limits.enter('192.0.2.1')).toBe('entered');
  });

  it('does not limit a server that returns reports about our email, whether or not it reuses connections', () => {
    const limits = createLimits({ unitsPerMinute: 10 });
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

  it('accepts the address of one email as a proof a few times only', () => {
    const limits = createLimits({ unitsPerMinute: 10 });
    const taken = countOf(100, () => {
      const isTaken = limits.isLetIn('192.0.2.1') && limits.beginMessage('192.0.2.1');
      limits.prove('192.0.2.1', 'the same');
      limits.leave('192.0.2.1');
      return isTaken;
    });
    expect(taken).toBe(4 + 5);
  });

  it('allows a guest five connections at once, and one more for each email it proves, up to fifty', () => {
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

  it('reserves a quarter of all places for clients that have proved an email within the last hour', () => {
    const limits = createLimits();
    limits.prove('198.51.100.1', 'a mail');
    const guests = countOf(200, (index) => limits.isLetIn(`192.0.2.${index % 200}`));
    expect(guests).toBe(75);
    expect(limits.enter('198.51.100.2')).toBe('full');
    expect(limits.enter('198.51.100.1')).toBe('entered');
    expect(limits.hasProof('198.51.100.1')).toBe(true);
    limits.pass(60 * MINUTE_MS + 1);
    expect(limits.hasProof('198.51.100.1')).toBe(false);
    expect(limits.enter('198.51.100.1')).toBe('full');
  });

  it('accepts one email as a proof of two clients only', () => {
    const limits = createLimits();
    for (let i = 1; i <= 20; i++) limits.prove(`192.0.2.${i}`, 'the same');
    expect(countOf(20, (index) => limits.hasProof(`192.0.2.${index + 1}`))).toBe(2);
  });

  it('allows a client to guess ten recipients, then one per minute, however often it connects', () => {
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

  it('limits the octets of a guest per minute', () => {
    const limits = createLimits();
    const mib = 1024 * 1024;
    const send = (address: string) => {
      const isTaken = limits.beginMessage(address);
      if (isTaken) limits.countOctets(address, mib);
      return isTaken;
    };
    expect(countOf(50, () => send('192.0.2.1'))).toBe(8);
    limits.prove('192.0.2.2', 'a mail');
    expect(countOf(50, () => send('192.0.2.2'))).toBe(50);
    limits.pass(MINUTE_MS);
    expect(send('192.0.2.1')).toBe(true);
  });

  it('treats an IPv6 network as one client, and an IPv4 address as the same in either notation', () => {
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
