import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PerSecond } from './per-second.ts';

interface Way {
  /** How late the next message reaches its host. */
  lateMs: () => number;
  /** How long the host takes to answer. */
  answerMs: number;
}

/** Sends as many messages as a limit lets through in some seconds. @returns when each reached its host */
function send(limit: number, seconds: number, { lateMs, answerMs }: Way): number[] {
  const used = new PerSecond();
  const arrived: number[] = [];
  const answers: { begunMs: number; atMs: number }[] = [];
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs++) {
    for (const { begunMs } of answers.filter(({ atMs }) => atMs === nowMs)) used.end(begunMs, nowMs);
    while (used.waitMs(limit, limit, nowMs) <= 0) {
      used.take(nowMs);
      used.leave(nowMs);
      used.begin(nowMs, limit);
      const atMs = nowMs + lateMs();
      arrived.push(atMs);
      answers.push({ begunMs: nowMs, atMs: atMs + answerMs });
    }
  }
  return arrived.sort((one, other) => one - other);
}

function mostInASecond(arrived: readonly number[]): number {
  return Math.max(...arrived.map((at) => arrived.filter((each) => each >= at && each < at + 1_000).length));
}

describe('a rate per second', () => {
  it('is not exceeded by messages that a busy machine holds back and lets go together', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 25 }),
        // A host that takes longer tells too late what was late.
        fc.integer({ min: 1, max: 1_000 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 400 })),
        (limit, answerMs, delays) => {
          // The first one tells how long an answer takes.
          let isFirst = true;
          const lateMs = (): number => {
            if (!isFirst) return delays.next().value ?? 0;
            isFirst = false;
            return 0;
          };
          expect(mostInASecond(send(limit, 6, { lateMs, answerMs }))).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([1, 50, 300, 900, 3_000])('is used in full at a host that answers after %i ms', (answerMs) => {
    const arrived = send(20, 60, { lateMs: () => 0, answerMs });
    expect(mostInASecond(arrived)).toBe(20);
    expect(arrived.length).toBeGreaterThanOrEqual(0.95 * 20 * 60);
  });
});
