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
          // Some are not late, so how long an answer takes is known after a while.
          let count = 0;
          const lateMs = (): number => ((count += 1) % 5 === 0 ? 0 : (delays.next().value ?? 0));
          expect(mostInASecond(send(limit, 30, { lateMs, answerMs }))).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: 30 },
    );
  });

  it.each([1, 50, 300, 900, 3_000])('is used in full at a host that answers after %i ms', (answerMs) => {
    const arrived = send(20, 60, { lateMs: () => 0, answerMs });
    expect(mostInASecond(arrived)).toBe(20);
    // How long an answer takes is known by then.
    const later = arrived.filter((at) => at >= 15_000);
    expect(later.length).toBeGreaterThanOrEqual(0.97 * 20 * 45);
  });
});
