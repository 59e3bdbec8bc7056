import { setTimeout as delay } from 'node:timers/promises';
import { describeUnexpectedExit, stopInOrder } from './child-process.ts';
import type { ManagedChild } from './child-process.ts';
import type { Progress } from '../progress.ts';

/** A part that ends sooner than this after its start has not recovered. */
const RECOVERED_MS = 10_000;
const WINDOW_MS = 60_000;
/** Pauses before the starts after the first, second … quick end; one more ends everything. */
const PAUSES_MS = [100, 500, 1_000, 2_000];

/**
 * Starts a part, with the same ports and data every time, and resolves when it is ready. Hands the process over as soon as
 * there is one.
 */
export type StartPart<T extends { child: ManagedChild }> = (onSpawn: (child: ManagedChild) => void) => Promise<T>;

export interface Supervisor {
  /** Starts a part, which is started again whenever it ends unexpectedly, once `restartFromNowOn` was called. */
  start: <T extends { child: ManagedChild }>(name: string, start: StartPart<T>) => Promise<T>;
  /** Until then an unexpected end of any part ends everything: a fault in the configuration does not go away by trying again. */
  restartFromNowOn(): void;
  /** Resolves with the reason once a part has ended for good without being asked to. */
  readonly failed: Promise<string>;
  /** Stops everything in order, including parts that are being started. */
  stopAll(): Promise<void>;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The parts of the supervisor that restarting needs. */
interface Revival {
  report: Progress;
  fail: (reason: string) => void;
  startOnce: <T>(name: string, start: (onSpawn: (child: ManagedChild) => void) => Promise<T>) => Promise<T>;
  /** Aborted when everything stops. */
  stopping: AbortSignal;
}

/** A part that has ended. */
interface EndedPart {
  name: string;
  start: StartPart<{ child: ManagedChild }>;
  dead: ManagedChild;
  fault: string;
  /** When it ended soon after a start, on the monotonic clock. */
  ends: number[];
}

/** Starts a part again and again until it is ready. @returns undefined when everything stops meanwhile */
async function revive(
  { report, fail, startOnce, stopping }: Revival,
  part: EndedPart,
): Promise<ManagedChild | undefined> {
  const { name, start, ends, dead } = part;
  let { fault } = part;
  for (;;) {
    const quickEnds = ends.filter((at) => at > performance.now() - WINDOW_MS).length;
    const pauseMs = PAUSES_MS[Math.max(0, quickEnds - 1)];
    if (pauseMs === undefined) {
      fail(`${fault}\n${name} has ended ${quickEnds} times within a minute, so Everpost stops. Read ${dead.logFile}`);
      return undefined;
    }
    report(`${fault.split('\n', 1)[0] ?? name} Starting ${name} again; its log is ${dead.logFile}`);
    try {
      await delay(pauseMs, undefined, { signal: stopping });
      return (await startOnce(name, start)).child;
    } catch (error) {
      if (stopping.aborted) return undefined;
      fault = messageOf(error);
      ends.push(performance.now());
    }
  }
}

/** Supervises the parts of a stack: restarts those that end unexpectedly, and stops all in order. */
export function createSupervisor(
  report: Progress,
  onStarted: (pid: number, args: readonly string[]) => void,
): Supervisor {
  const running = new Map<string, ManagedChild>();
  const starting = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  let mayRestart = false;
  let fail: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => (fail = resolve));

  async function startOnce<T>(name: string, start: (onSpawn: (child: ManagedChild) => void) => Promise<T>): Promise<T> {
    stopping.signal.throwIfAborted();
    const started = start((child) => {
      running.set(name, child);
      onStarted(child.pid, child.args);
      if (stopping.signal.aborted) void child.stop();
    });
    starting.add(started);
    try {
      return await started;
    } finally {
      starting.delete(started);
    }
  }

  async function keepRunning(
    name: string,
    start: StartPart<{ child: ManagedChild }>,
    first: ManagedChild,
  ): Promise<void> {
    const ends: number[] = [];
    for (let child: ManagedChild | undefined = first; child;) {
      const startedAt = performance.now();
      const exit = await child.exited;
      if (stopping.signal.aborted || child.isStopping()) return;
      const fault = describeUnexpectedExit(child, exit);
      if (!mayRestart) {
        fail(fault);
        return;
      }
      if (performance.now() - startedAt < RECOVERED_MS) ends.push(performance.now());
      const ended = { name, start, ends, dead: child, fault };
      child = await revive({ report, fail, startOnce, stopping: stopping.signal }, ended);
    }
  }

  return {
    failed,
    async start(name, start) {
      const part = await startOnce(name, start);
      keepRunning(name, start, part.child).catch((error: unknown) => fail(messageOf(error)));
      return part;
    },
    restartFromNowOn() {
      mayRestart = true;
    },
    async stopAll() {
      stopping.abort();
      await stopInOrder([...running.values()]);
      await Promise.allSettled(starting);
      // Parts that had no process a moment ago.
      await stopInOrder([...running.values()]);
    },
  };
}
