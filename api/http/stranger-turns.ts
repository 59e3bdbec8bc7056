import { createTurns } from '../../shared/platform/turns.ts';

/** The longest that strangers keep the event loop, in milliseconds. Requests with a known key never wait for them. */
const TURN_MS = 1;

/**
 * Creates a queue for requests of strangers. Those that arrive together start one after the other, and other work of the
 * event loop runs in between.
 * @returns the function that starts a request, at once when no other waits
 */
export function createStrangerTurns(): (start: () => void) => void {
  const waiting: (() => void)[] = [];
  const takeTurns = createTurns(TURN_MS);
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    for (let start = waiting.shift(); start; start = waiting.shift()) {
      start();
      // A request begins to parse its body in the next tick, which is a part of its turn.
      await new Promise<void>((resolve) => process.nextTick(resolve));
      await takeTurns();
    }
    isRunning = false;
  }

  return (start) => {
    waiting.push(start);
    if (!isRunning) void run();
  };
}
