import { describe, expect, it } from '@jest/globals';
import { createClientLimits } from './client-limits.ts';

const MINUTE_MS = 60_000;

function createLimits(unprovenPerMinute = 10, connectionsAtOnce = 4) {
  let nowMs = 1_000 * MINUTE_MS;
  const limits = createClientLimits({ unprovenPerMinute, connectionsAtOnce, now: () => nowMs });
  return { ...limits, pass: (ms: number) => (nowMs += ms) };
}

/** How many of so many attempts succeed. */
const countOf = (times: number, attempt: (index: number) => boolean) =>
  Array.from({ length: times }, (_, index) => attempt(index)).filter(Boolean).length;

describe('createClientLimits', () => {
  it('bounds what a stranger does in a minute, connections and messages together, and no one else', () => {
    const limits = createLimits();
    expect(limits.enter('192.0.2.1')).toBe(true);
    expect(countOf(20, () => limits.beginMessage('192.0.2.1'))).toBe(9);
    expect(limits.enter('192.0.2.1')).toBe(false);
    expect(limits.enter('192.0.2.2')).toBe(true);
    limits.pass(MINUTE_MS);
    expect(limits.enter('192.0.2.1')).toBe(true);
  });

  it('does not bound a server that returns reports of mail of ours, whether or not it keeps its connections', () => {
    const limits = createLimits();
    const relay = '192.0.2.1';
    const oneByOne = countOf(1_000, (index) => {
      const isTaken = limits.enter(relay) && limits.beginMessage(relay);
      limits.prove(relay, `single ${index}`);
      limits.leave(relay);
      return isTaken;
    });
    expect(oneByOne).toBe(1_000);
    expect(limits.enter(relay)).toBe(true);
    const inOne = countOf(1_000, (index) => {
      const isTaken = limits.beginMessage(relay);
      limits.prove(relay, `kept ${index}`);
      return isTaken;
    });
    expect(inOne).toBe(1_000);
  });

  it('believes the address of one mail a few times only', () => {
    const limits = createLimits();
    const taken = countOf(100, () => {
      const isTaken = limits.enter('192.0.2.1') && limits.beginMessage('192.0.2.1');
      limits.prove('192.0.2.1', 'the same');
      limits.leave('192.0.2.1');
      return isTaken;
    });
    expect(taken).toBe(4 + 5);
  });

  it('bounds the connections that one address has at once', () => {
    const limits = createLimits(100);
    expect(countOf(6, () => limits.enter('192.0.2.1'))).toBe(4);
    limits.leave('192.0.2.1');
    expect(countOf(6, () => limits.enter('192.0.2.1'))).toBe(1);
  });

  it('takes a network of IPv6 for one client', () => {
    const limits = createLimits(100);
    expect(countOf(6, (index) => limits.enter(`2001:db8:0:1::${index}`))).toBe(4);
    expect(limits.enter('2001:db8:0:2::1')).toBe(true);
  });
});
