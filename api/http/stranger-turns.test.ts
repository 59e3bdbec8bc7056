import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createStrangerTurns } from './stranger-turns.ts';

/** Work that takes longer than the turn of the strangers. */
function keepLoop(): void {
  const until = performance.now() + 2;
  while (performance.now() < until);
}

describe('requests of strangers', () => {
  it('start at once when no other request waits', async () => {
    const inTurn = createStrangerTurns();
    for (let n = 0; n < 2; n++) {
      let isStarted = false;
      inTurn(() => (isStarted = true));
      expect(isStarted).toBe(true);
      await nextTurn();
      await nextTurn();
    }
  });

  it('that arrive together start in their order, and other work runs in between', async () => {
    const inTurn = createStrangerTurns();
    const started: number[] = [];
    for (let n = 0; n < 5; n++) {
      inTurn(() => {
        started.push(n);
        keepLoop();
      });
    }
    const startedInTurn = [];
    while (started.length < 5) {
      startedInTurn.push(started.length);
      await nextTurn();
    }
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(startedInTurn.length).toBeGreaterThanOrEqual(4);
  });
});
