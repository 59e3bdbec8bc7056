import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from './running-process.ts';

const NAMELESS_MS_MAX = 5_000;

/**
 * Runs `work` while holding a lock file that names this process; a lock whose owner is gone is taken over.
 * `onWait` is called once when somebody else holds it.
 */
export async function withFileLock<T>(lockFile: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let hasWaited = false;
  while (!takeFileLock(lockFile)) {
    if (!hasWaited) onWait();
    hasWaited = true;
    await sleep(250);
  }
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/**
 * Makes a lock file that names this process, and takes over one whose owner is gone.
 * @returns false when a running process has it, which may be this one
 */
export function takeFileLock(lockFile: string): boolean {
  mkdirSync(path.dirname(lockFile), { recursive: true });
  while (!tryLock(lockFile)) {
    const owner = ownerOf(lockFile);
    if (owner === undefined ? !isStale(lockFile) : isRunning(owner)) return false;
    rmSync(lockFile, { force: true });
  }
  return true;
}

/** Whether a crash left a lock that names no process: it is still empty some seconds after it was made. */
function isStale(lockFile: string): boolean {
  const made = statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Date.now() - made > NAMELESS_MS_MAX;
}

function tryLock(lockFile: string): boolean {
  try {
    writeFileSync(lockFile, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(lockFile: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(lockFile, 'utf8'), 10);
    return Number.isInteger(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}
