import { describe, expect, it } from '@jest/globals';
import { QueueTrial } from './queue-trial.ts';

const CONNECTIONS = 15;

/**
 * Simulates a campaign at a server for a number of seconds.
 * @param tookMsOf the time of a message by the number of messages at the server
 */
function run(trial: QueueTrial, fromMs: number, seconds: number, tookMsOf: (count: number) => number): number[] {
  const limits: number[] = [];
  const begun: number[] = [];
  for (let nowMs = fromMs; nowMs < fromMs + seconds * 1_000; nowMs += 5) {
    const count = Math.min(CONNECTIONS, trial.limit);
    while (begun.length < count) begun.push(nowMs);
    const tookMs = tookMsOf(begun.length);
    while (begun.length > 0 && nowMs - (begun[0] ?? nowMs) >= tookMs) {
      trial.decided(nowMs - (begun.shift() ?? 0), count, nowMs);
    }
    limits.push(Math.min(CONNECTIONS, trial.limit));
  }
  return limits;
}

describe('a server that handles one message at a time', () => {
  /** 20 messages per second, whatever their number at the server. */
  function runOneByOne(trial: QueueTrial, fromMs: number, seconds: number): number[] {
    const limits: number[] = [];
    const queue: number[] = [];
    for (let nowMs = fromMs, freeMs = fromMs; nowMs < fromMs + seconds * 1_000; nowMs += 5) {
      while (queue.length < Math.min(CONNECTIONS, trial.limit)) queue.push(nowMs);
      if (nowMs >= freeMs + 50) {
        freeMs = nowMs;
        trial.decided(nowMs - (queue.shift() ?? nowMs), queue.length + 1, nowMs);
      }
      limits.push(Math.min(CONNECTIONS, trial.limit));
    }
    return limits;
  }

  it('gets so few messages at a time that an urgent one waits less than the time of four', () => {
    const limits = runOneByOne(new QueueTrial(), 1_000, 40);
    expect(limits.at(-1)).toBeLessThanOrEqual(3);
    expect(limits.slice(-2_000).every((limit) => limit <= 3)).toBe(true);
  });

  it('gets more messages again when it handles many at a time', () => {
    const trial = new QueueTrial();
    runOneByOne(trial, 1_000, 40);
    const limits = run(trial, 41_000, 300, () => 100);
    expect(limits.at(-1)).toBeGreaterThanOrEqual(12);
  });
});

describe('a server far away that handles many messages at a time', () => {
  it('keeps all connections except during a trial', () => {
    const limits = run(new QueueTrial(), 1_000, 300, () => 400);
    expect(limits.filter((limit) => limit < CONNECTIONS).length).toBeLessThan(limits.length / 8);
    expect(limits.at(-1)).toBe(CONNECTIONS);
  });
});

describe('a fast server', () => {
  it('has no trial', () => {
    const limits = run(new QueueTrial(), 1_000, 60, () => 20);
    expect(new Set(limits)).toEqual(new Set([CONNECTIONS]));
  });
});
