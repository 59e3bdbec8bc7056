import { spawn } from 'node:child_process';
import path from 'node:path';
import { projectRoot } from '../../shared/platform/paths.ts';

/** Message from the guarded process to its guard, one JSON value a line. */
export type GuardMessage =
  | { kind: 'watch'; pid: number; signal: NodeJS.Signals; stopRank: number }
  | { kind: 'forget'; pid: number }
  | { kind: 'remove'; path: string };

/**
 * Starts a small process in its own session whose standard input is held open by this one.
 * However this process ends, SIGKILL and a closed terminal included, the pipe closes and the guard acts.
 */
export function startProcessGuard() {
  const guard = spawn(process.execPath, [path.join(projectRoot, 'local', 'processes', 'process-guard-main.ts')], {
    cwd: projectRoot,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const { pid, stdin } = guard;
  if (pid === undefined) throw new Error('Could not start the process that cleans up after a crash.');
  guard.unref();
  (stdin as typeof stdin & { unref(): void }).unref();
  // A guard that was killed from outside must not take the stack down with EPIPE.
  stdin.on('error', () => undefined);
  const send = (message: GuardMessage): void => void stdin.write(`${JSON.stringify(message)}\n`);
  return {
    pid,
    /** Stops `pid` with `signal` when this process ends without having called `forget`. Low ranks stop first. */
    watch: (watchedPid: number, signal: NodeJS.Signals, stopRank: number) =>
      send({ kind: 'watch', pid: watchedPid, signal, stopRank }),
    forget: (watchedPid: number) => send({ kind: 'forget', pid: watchedPid }),
    /** Deletes a file or folder after everything watched has ended. */
    removeAfterwards: (fileOrFolder: string) => send({ kind: 'remove', path: fileOrFolder }),
  };
}

/** Outlives this process by a moment and cleans up after it. */
export type ProcessGuard = ReturnType<typeof startProcessGuard>;
