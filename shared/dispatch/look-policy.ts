import type { DueKind } from '../durable/outbox/outbox-claims.ts';

/** Decides when a process looks for due rows between its regular polls, and which rows it leaves to workers. */
export interface LookPolicy {
  /** Called when rows were, or may have been, committed. @returns how many milliseconds to wait before looking */
  onWake: () => number;
  /** Called with the result of a look. @returns in how many milliseconds to look again; undefined for the next poll */
  onLook: (due: readonly DueKind[]) => number | undefined;
  /** Rows are claimed once the oldest has been due for so many milliseconds. */
  claimAgeMs: () => number;
}

/** A worker that has seen work looks at this interval until `BUSY_MS` have passed. */
const WORKER_LOOK_MS = 20;
const BUSY_MS = 2_000;

/** The policy of a worker process: it looks often for a while after it has seen work, and claims all rows. */
export function createWorkerLookPolicy(): LookPolicy {
  let busyUntil = 0;
  function noteWork(): void {
    busyUntil = performance.now() + BUSY_MS;
  }
  return {
    onWake() {
      noteWork();
      return 0;
    },
    onLook(due) {
      if (due.length > 0) noteWork();
      return performance.now() < busyUntil ? WORKER_LOOK_MS : undefined;
    },
    claimAgeMs: () => 0,
  };
}

/** An API process hands over a row at once if it saw none in the time before. Otherwise workers get some time to claim it. */
const ALONE_MS = 1_000;
const LEAVE_TO_WORKERS_MS = 80;
/** A row is as old as its transaction, which began a little before the call of `onWake`. Timers may be early. */
const CLOCK_MARGIN = 0.75;

/**
 * The policy of an API process: it leaves most rows to workers, because a worker that starts a workflow may run it at
 * once.
 */
export function createApiLookPolicy(): LookPolicy {
  /** When a look last found rows. Most calls of `onWake` leave none behind, such as events that no automation listens to. */
  let seenAt = -Infinity;
  let leavesToWorkers = false;
  const hasSeenRows = (): boolean => performance.now() - seenAt < ALONE_MS;
  return {
    onWake: () => (hasSeenRows() ? LEAVE_TO_WORKERS_MS : 0),
    onLook(due) {
      if (!due.some(({ hasNew }) => hasNew)) return undefined;
      leavesToWorkers = hasSeenRows();
      seenAt = performance.now();
      return leavesToWorkers ? LEAVE_TO_WORKERS_MS : undefined;
    },
    claimAgeMs: () => (leavesToWorkers ? LEAVE_TO_WORKERS_MS * CLOCK_MARGIN : 0),
  };
}
