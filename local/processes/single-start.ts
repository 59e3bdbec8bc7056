import { rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readJsonFile, writePrivateJson } from '../home-files.ts';
import { withFileLock } from './file-lock.ts';
import type { Progress } from '../progress.ts';
import { commandLineOf, isRunning, sendSignal, waitUntilGone } from './running-process.ts';

const runningSchema = z.object({
  pid: z.int().positive(),
  guardPid: z.int().positive(),
  /** Children by process id, with the arguments that tell them from a later process of the same number. */
  children: z.record(z.string().regex(/^\d+$/), z.string().min(1)),
});
type RunningStack = z.infer<typeof runningSchema>;

/** The right of one process to run the stack of a folder. */
export interface SingleStart {
  /** Remembers a child, so that a later start can end it if this process and its guard are both killed. */
  readonly remember: (pid: number, args: readonly string[]) => void;
  readonly release: () => void;
}

/**
 * Claims the folder for this process. Waits until the guard of a killed predecessor has stopped its processes, and ends
 * those that are left. Returns the process id of the stack that already runs in the folder instead, if there is one.
 */
export async function claimSingleStart(
  home: string,
  guardPid: number,
  progress: Progress,
): Promise<SingleStart | { runningPid: number }> {
  const file = path.join(home, 'running.json');
  const own: RunningStack = { pid: process.pid, guardPid, children: {} };
  const save = (): void => writePrivateJson(file, own);
  const noWait = (): void => undefined;
  return withFileLock(path.join(home, 'running.lock'), noWait, async () => {
    const previous = readPrevious(file);
    if (previous && isProcess(previous.pid, 'local/start.ts')) return { runningPid: previous.pid };
    if (previous) await endLeftovers(previous, progress);
    save();
    return {
      remember(pid, args) {
        own.children[pid] = args.join(' ');
        try {
          save();
        } catch {
          // Needed only if this process and its guard are both killed, so a full disk is no reason to stop.
        }
      },
      release: () => rmSync(file, { force: true }),
    };
  });
}

function readPrevious(file: string): RunningStack | undefined {
  return readJsonFile(
    file,
    runningSchema,
    'It says which processes run: make sure that no other `npm start` runs in this folder, then remove it.',
  );
}

function isProcess(pid: number, expectedArguments: string): boolean {
  return isRunning(pid) && commandLineOf(pid).includes(expectedArguments);
}

async function endLeftovers(previous: RunningStack, progress: Progress): Promise<void> {
  if (isProcess(previous.guardPid, 'local/processes/process-guard-main.ts')) {
    progress('Waiting for the processes of the previous run to end');
    await waitUntilGone(previous.guardPid, 60_000);
  }
  const leftovers = Object.entries(previous.children)
    .map(([pid, args]) => ({ pid: Number(pid), args }))
    .filter(({ pid, args }) => isProcess(pid, args));
  await Promise.all(
    leftovers.map(async ({ pid }) => {
      sendSignal(pid, 'SIGTERM');
      if (!(await waitUntilGone(pid, 15_000))) sendSignal(pid, 'SIGKILL');
    }),
  );
}
