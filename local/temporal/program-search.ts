import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** True when the path is a file this user may execute. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The first program of that name on the PATH, as an absolute path. */
export function findOnPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name)).find(isExecutable);
}

/** True when the program runs and exits with 0 for these arguments within ten seconds. */
export async function answers(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await run(program, [...args], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
