import { describeUnexpectedExit, startChild, stopInOrder } from './child-process.ts';
import type { ChildSpec, ManagedChild } from './child-process.ts';
import type { Progress } from '../progress.ts';

const restartsPerMinuteMax = 10;

export interface Supervisor {
  /** Takes over a child that already runs; its unexpected end ends everything. */
  adopt(child: ManagedChild): void;
  /** Starts a child that is started again when it ends unexpectedly, once `restartFromNowOn` was called, at most ten times a minute. */
  startRestartable(spec: ChildSpec): Promise<ManagedChild>;
  /** Until then an unexpected end of any child ends everything: a fault in the configuration does not go away by trying again. */
  restartFromNowOn(): void;
  /** Resolves with what went wrong once a child has ended for good although nobody asked for it. */
  readonly failed: Promise<string>;
  stopAll(): Promise<void>;
}

/** Watches over children: reports an unexpected end with the child's last lines, and stops all in order. */
export function createSupervisor(
  report: Progress,
  onStarted: (pid: number, args: readonly string[]) => void,
): Supervisor {
  const running = new Map<string, ManagedChild>();
  let isStopping = false;
  let mayRestart = false;
  let fail: (reason: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => (fail = resolve));

  async function startRestartable(spec: ChildSpec, earlier: readonly number[] = []): Promise<ManagedChild> {
    const child = await startChild(spec);
    running.set(spec.name, child);
    onStarted(child.pid, spec.args);
    if (isStopping) await child.stop();
    void child.exited.then(async (exit) => {
      if (isStopping || child.isStopping()) return;
      const description = describeUnexpectedExit(child, exit);
      if (!mayRestart) {
        fail(description);
        return;
      }
      const recent = [...earlier.filter((time) => time > Date.now() - 60_000), Date.now()];
      if (recent.length > restartsPerMinuteMax) {
        fail(`${description}\n${spec.name} has ended ${recent.length} times within a minute; giving up.`);
        return;
      }
      report(`${description}\nStarting ${spec.name} again.`);
      await startRestartable(spec, recent).catch((error: unknown) =>
        fail(error instanceof Error ? error.message : String(error)),
      );
    });
    return child;
  }

  return {
    failed,
    startRestartable: (spec) => startRestartable(spec),
    restartFromNowOn: () => {
      mayRestart = true;
    },
    adopt(child) {
      running.set(child.name, child);
      void child.exited.then((exit) => {
        if (!isStopping && !child.isStopping()) fail(describeUnexpectedExit(child, exit));
      });
    },
    async stopAll() {
      isStopping = true;
      await stopInOrder([...running.values()]);
    },
  };
}
