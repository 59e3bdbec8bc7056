import path from 'node:path';
import { startChild, stopInOrder, waitUntilReady, type ManagedChild } from '../../local/processes/child-process.ts';
import { projectRoot } from '../../shared/platform/paths.ts';
import type { ProcessGuard } from '../../local/processes/process-guard.ts';
import { sendSignal } from '../../local/processes/running-process.ts';

/** Processes are stopped in this order: programs of Everpost and load generators, SMTP sinks, Temporal, PostgreSQL. */
export const STOP_RANKS = { programs: 1, sinks: 2, temporal: 3, postgres: 4 } as const;

export interface NodeProcessSpec {
  /** Shown in messages and the name of its log file. */
  name: string;
  /** Entry from the project root, for example `worker/main.ts`. */
  entry: string;
  args?: readonly string[];
  /** Those of Node. */
  flags?: readonly string[];
  env?: NodeJS.ProcessEnv;
  stopRank?: number;
  /** Takes part in `--profile`. */
  canProfile?: boolean;
}

/** A running program. */
export interface NodeProcess {
  readonly pid: number;
  /** Waits for a line on its standard output or error that `match` accepts. Rejects when it ends before. */
  line: (match: (line: string) => boolean, timeoutMs?: number) => Promise<string>;
  /** Waits for `ready`, and rejects with its last lines when it ends before. */
  waitUntil: (ready: (signal: AbortSignal) => Promise<void>, timeoutMs: number) => Promise<void>;
  /** Waits for its end and answers its exit code. */
  readonly exited: Promise<number | null>;
  stop: () => Promise<void>;
  /** Ends it at once, as a crash would, and waits until it is gone. */
  kill: () => Promise<void>;
}

export interface ProcessesOptions {
  /** Folder for logs. */
  logs: string;
  guard: ProcessGuard;
  /** Folder for CPU profiles of the programs that can be profiled. */
  profiles?: string | undefined;
}

/** Starts processes and remembers them, so that all can be stopped in order. */
export interface Processes {
  adopt: (child: ManagedChild) => void;
  startProgram: (spec: ProgramSpec) => Promise<NodeProcess>;
  startNode: (spec: NodeProcessSpec) => Promise<NodeProcess>;
  logFile: (name: string) => string;
  stopAll: () => Promise<void>;
}

export interface ProgramSpec {
  name: string;
  command: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  stopRank: number;
}

const LINE_TIMEOUT_MS = 60_000;

/** Creates the keeper of a bench's processes. */
export function createProcesses({ logs, guard, profiles }: ProcessesOptions): Processes {
  const children: ManagedChild[] = [];
  const logFile = (name: string): string => path.join(logs, `${name}.log`);

  async function startProgram(spec: ProgramSpec): Promise<NodeProcess> {
    const seen: string[] = [];
    const listeners = new Set<(line: string) => void>();
    const child = await startChild({
      name: spec.name,
      command: spec.command,
      args: spec.args,
      cwd: projectRoot,
      env: spec.env ?? process.env,
      logFile: logFile(spec.name),
      stopRank: spec.stopRank,
      guard,
      onLine(line) {
        seen.push(line);
        if (seen.length > 100) seen.shift();
        for (const listener of listeners) listener(line);
      },
    });
    children.push(child);
    return {
      pid: child.pid,
      exited: child.exited.then((exit) => exit.code),
      waitUntil: (ready, timeoutMs) => waitUntilReady(child, timeoutMs, ready),
      stop: () => child.stop(),
      async kill() {
        sendSignal(child.pid, 'SIGKILL');
        await child.exited;
      },
      async line(match, timeoutMs = LINE_TIMEOUT_MS) {
        const known = seen.find(match);
        if (known !== undefined) return known;
        let found = '';
        await waitUntilReady(child, timeoutMs, () => {
          const { promise, resolve } = Promise.withResolvers<undefined>();
          const listener = (line: string): void => {
            if (!match(line)) return;
            found = line;
            listeners.delete(listener);
            resolve(undefined);
          };
          listeners.add(listener);
          return promise;
        });
        return found;
      },
    };
  }

  return {
    adopt: (child) => void children.push(child),
    logFile,
    startProgram,
    startNode(spec) {
      const profiling = profiles !== undefined && spec.canProfile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : [];
      const args = [...profiling, ...(spec.flags ?? []), path.join(projectRoot, spec.entry), ...(spec.args ?? [])];
      const stopRank = spec.stopRank ?? STOP_RANKS.programs;
      return startProgram({ name: spec.name, command: process.execPath, args, env: spec.env, stopRank });
    },
    stopAll: () => stopInOrder(children),
  };
}
