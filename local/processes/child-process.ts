import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { ProcessGuard } from './process-guard.ts';
import { sendSignal } from './running-process.ts';

const keptLines = 20;

export interface ChildSpec {
  /** Shown in messages, e.g. `worker`. */
  name: string;
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number | undefined;
  gid?: number | undefined;
  /** Standard output and error are appended here. */
  logFile: string;
  /** Children with a low rank are stopped before those with a higher one. */
  stopRank: number;
  /** The signal that asks for an orderly stop; SIGTERM when absent. */
  stopSignal?: NodeJS.Signals;
  /** How long an orderly stop may take before SIGKILL, in milliseconds; 15,000 when absent. */
  stopTimeoutMs?: number;
  guard: ProcessGuard;
  onLine?: (line: string) => void;
  /** Called as soon as there is a process, so that the caller can stop it. */
  onSpawn?: ((child: ManagedChild) => void) | undefined;
}

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ManagedChild {
  readonly name: string;
  readonly pid: number;
  readonly args: readonly string[];
  readonly stopRank: number;
  readonly logFile: string;
  readonly exited: Promise<ChildExit>;
  /** True once `stop` was called, so that the exit is expected. */
  isStopping(): boolean;
  /** The last lines the child wrote, oldest first. */
  lastLines(): readonly string[];
  /** Resolves when the process is gone; safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a program in a process group of its own, so that Ctrl-C reaches only the parent. The parent then stops its
 * children in order.
 * Rejects when the program cannot be executed.
 */
export async function startChild(spec: ChildSpec): Promise<ManagedChild> {
  mkdirSync(path.dirname(spec.logFile), { recursive: true });
  const log = createWriteStream(spec.logFile, { flags: 'a', mode: 0o600 });
  // A full disk takes no more lines, but must not end this process, which is the parent of the others.
  log.on('error', () => undefined);
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    uid: spec.uid,
    gid: spec.gid,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(new Error(`Could not start ${spec.name} (${spec.command}): ${error.message}`)),
    );
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`Could not start ${spec.name} (${spec.command}).`);
  spec.guard.watch(pid, spec.stopSignal ?? 'SIGTERM', spec.stopRank);

  const lines: string[] = [];
  let stopping: Promise<void> | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      log.write(`${line}\n`);
      lines.push(line);
      if (lines.length > keptLines) lines.shift();
      spec.onLine?.(line);
    });
  }
  const exited = new Promise<ChildExit>((resolve) => {
    // A grandchild may keep the pipes open after the child has ended, so this does not wait for `close` alone.
    child.once('exit', (code, signal) => {
      spec.guard.forget(pid);
      const finish = (): void => {
        log.end();
        resolve({ code, signal });
      };
      const timer = setTimeout(finish, 500);
      child.once('close', () => {
        clearTimeout(timer);
        finish();
      });
    });
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) sendSignal(pid, spec.stopSignal ?? 'SIGTERM');
    const timer = setTimeout(() => sendSignal(pid, 'SIGKILL'), spec.stopTimeoutMs ?? 15_000);
    await exited;
    clearTimeout(timer);
  };
  const managed: ManagedChild = {
    name: spec.name,
    pid,
    args: spec.args,
    stopRank: spec.stopRank,
    logFile: spec.logFile,
    exited,
    isStopping: () => stopping !== undefined,
    lastLines: () => [...lines],
    stop: () => (stopping ??= stop()),
  };
  spec.onSpawn?.(managed);
  return managed;
}

/** Stops children rank by rank, those of one rank together. */
export async function stopInOrder(children: readonly ManagedChild[]): Promise<void> {
  const ranks = [...new Set(children.map((child) => child.stopRank))].sort((a, b) => a - b);
  for (const rank of ranks) {
    await Promise.all(children.filter((child) => child.stopRank === rank).map((child) => child.stop()));
  }
}

/** One readable paragraph about a child that ended unexpectedly. */
export function describeUnexpectedExit(child: ManagedChild, exit: ChildExit): string {
  const how = exit.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
  const lines = child.lastLines();
  const tail =
    lines.length > 0 ? `Its last lines:\n${lines.map((line) => `    ${line}`).join('\n')}` : 'It wrote nothing.';
  return `${child.name} ${how} unexpectedly.\n${tail}\nFull log: ${child.logFile}`;
}

/**
 * Waits for `ready`. Rejects when the child ends first, or after `timeoutMs`, with the child's last lines in the
 * message. `ready` gets a signal that is aborted once the wait is over.
 */
export async function waitUntilReady(
  child: ManagedChild,
  timeoutMs: number,
  ready: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const waiting = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([
      ready(waiting.signal),
      child.exited.then((exit) => {
        throw new Error(describeUnexpectedExit(child, exit));
      }),
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const lines = child.lastLines().map((line) => `    ${line}`);
          reject(new Error([`${child.name} was not ready after ${timeoutMs / 1000} s.`, ...lines].join('\n')));
        }, timeoutMs);
      }),
    ]);
  } finally {
    clearTimeout(timer);
    waiting.abort();
  }
}
