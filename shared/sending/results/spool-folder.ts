import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const KEPT = '.json';
const REJECTED = '.rejected';
/** Only the account of the worker may read the files. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Checks that files can be written to a folder, which is created. @returns why not, else undefined */
export async function spoolFault(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    const path = join(folder, randomUUID());
    await (await open(path, 'wx', FILE_MODE)).close();
    await unlink(path);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Writes a file that is complete as soon as it has its name, also after a power failure. */
export async function writeKept(folder: string, prefix: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const path = join(folder, `${prefix}.${randomUUID()}`);
  const file = await open(`${path}.part`, 'wx', FILE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.part`, `${path}${KEPT}`);
}

/** The paths of the files with a prefix, or of all; none if the folder does not exist. */
export async function keptFiles(folder: string, prefix: string | undefined): Promise<string[]> {
  try {
    const names = await readdir(folder);
    const isWanted = (name: string): boolean => prefix === undefined || name.startsWith(`${prefix}.`);
    return names.filter((name) => name.endsWith(KEPT) && isWanted(name)).map((name) => join(folder, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The text of a file; undefined when another process has removed it. */
export async function readKept(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Removes a file, which another process may have done. */
export async function removeKept(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
}

/** Puts a file aside that cannot be recorded. */
export function rejectKept(path: string): Promise<void> {
  return rename(path, `${path}${REJECTED}`);
}
