import { setTimeout as delay } from 'node:timers/promises';
import { describeUnexpectedExit, type ManagedChild, stopInOrder } from './child-process.ts';
import type { Progress } from '../progress.ts';

/** A part that ends sooner than this after its start has not recovered. */
const RECOVERED_MS = 10_000;
const WINDOW_MS = 60_000;
/** Pauses before a part is started again after its first, second … quick end. After one more, everything stops. */
const PAUSES_MS = [100, 500, 1_000, 2_000];

/**
 * Starts a part, with the same ports and data every time, and resolves when it is ready. Calls `onSpawn` as soon as
 * there is a process.
 */
export type StartPart<T extends { child: ManagedChild }> = (onSpawn: (child: ManagedChild) => void) => Promise<T>;

export interface Supervisor {
  /** Starts a part. After `restartFromNowOn` it is started again whenever it ends unexpectedly. */
  start: <T extends { child: ManagedChild }>(name: string, start: StartPart<T>) => Promise<T>;
  /**
   * Restarts parts from now on. Before, an unexpected end of a part stops everything, because a restart does not
   * correct a fault in the configuration.
   */
  restartFromNowOn(): void;
  /** Resolves with the reason once a part has ended for good without being asked to. */
  readonly failed: Promise<string>;
  /** Stops everything in order, including parts that are being started. */
  stopAll(): Promise<void>;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What a restart needs of the supervisor. */
interface RestartContext {
  report: Progress;
  fail: (reason: string) => void;
  startOnce: <T>(name: string, start: (onSpawn: (child: ManagedChild) => void) => Promise<T>) => Promise<T>;
  /** Aborted when everything stops. */
  stopping: AbortSignal;
}

interface EndedPart {
  name: string;
  start: StartPart<{ child: ManagedChild }>;
  last: ManagedChild;
  fault: string;
  /** When it ended soon after a start, on the monotonic clock. */
  quickEnds: number[];
}

/** Starts a part again and again until it is ready. @returns undefined when everything stops meanwhile */
async function restart(
  { report, fail, startOnce, stopping }: RestartContext,
  part: EndedPart,
): Promise<ManagedChild | undefined> {
  const { name, start, quickEnds, last } = part;
  let { fault } = part;
  for (;;) {
    const count = quickEnds.filter((at) => at > performance.now() - WINDOW_MS).length;
    const pauseMs = PAUSES_MS[Math.max(0, count - 1)];
    if (pauseMs === undefined) {
      fail(`${fault}\n${name} has ended ${count} times within a minute, so Everpost stops. Read ${last.logFile}`);
      return undefined;
    }
    report(`${fault.split('\n', 1)[0] ?? name} Starting ${name} again; its log is ${last.logFile}`);
    try {
      await delay(pauseMs, undefined, { signal: stopping });
      return (await startOnce(name, start)).child;
    } catch (error) {
      if (stopping.aborted) return undefined;
      fault = messageOf(error);
      quickEnds.push(performance.now());
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
    const quickEnds: number[] = [];
    let child: ManagedChild | undefined = first;
    while (child) {
      const startedAt = performance.now();
      const exit = await child.exited;
      if (stopping.signal.aborted || child.isStopping()) return;
      const fault = describeUnexpectedExit(child, exit);
      if (!mayRestart) {
        fail(fault);
        return;
      }
      if (performance.now() - startedAt < RECOVERED_MS) quickEnds.push(performance.now());
      const ended = { name, start, quickEnds, last: child, fault };
      child = await restart({ report, fail, startOnce, stopping: stopping.signal }, ended);
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
      // Parts that had no process at the first stop.
      await stopInOrder([...running.values()]);
    },
  };
}
