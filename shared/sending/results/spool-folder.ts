import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const KEPT = '.json';
const SENT = '.sent';
const REJECTED = '.rejected';
/** Only the account of the worker may read the files. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** No attempt lives so long without a result. */
const ABANDONED_MS = 2 * 3_600_000;

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

/** Lines in a file that survives the process, though not the machine. */
export interface LineFile {
  /** Writes a line. */
  add: (line: string) => void;
  /** Ends the file, which is gone then unless `isKept`. */
  end: (isKept: boolean) => void;
}

/**
 * Creates a file of lines when the first one comes.
 * @param head the first line
 * @param onFault called once when a line cannot be written; later ones are not tried
 */
export function createLineFile(
  folder: string,
  prefix: string,
  head: string,
  onFault: (error: unknown) => void,
): LineFile {
  const path = join(folder, `${prefix}.${randomUUID()}${SENT}`);
  let file: number | undefined;
  let isOver = false;
  function openFile(): number {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    const opened = openSync(path, 'ax', FILE_MODE);
    writeSync(opened, `${head}\n`);
    return opened;
  }
  return {
    add(line) {
      if (isOver) return;
      try {
        // A write takes 1 µs. One that does not block, or waits for others, would leave the line in this process.
        writeSync((file ??= openFile()), `${line}\n`);
      } catch (error) {
        isOver = true;
        onFault(error);
      }
    },
    end(isKept) {
      isOver = true;
      if (file === undefined) return;
      closeSync(file);
      try {
        if (!isKept) unlinkSync(path);
      } catch (error) {
        if (!isMissing(error)) onFault(error);
      }
    },
  };
}

/** The lines of a file of lines, its head first; undefined for a file of another kind. The last line may be cut. */
export function linesOf(path: string, text: string): string[] | undefined {
  return path.endsWith(SENT) ? text.split('\n').slice(0, -1) : undefined;
}

/**
 * The paths of the files with a prefix; none if the folder does not exist. Without a prefix those of all, but of the
 * files of lines only those that have not grown for `ABANDONED_MS`, because the others may still be in use.
 */
export async function keptFiles(folder: string, prefix: string | undefined): Promise<string[]> {
  try {
    const names = (await readdir(folder)).filter((name) => prefix === undefined || name.startsWith(`${prefix}.`));
    const kept = names.filter((name) => name.endsWith(KEPT));
    for (const name of names.filter((each) => each.endsWith(SENT))) {
      if (prefix !== undefined || (await ageMsOf(join(folder, name))) > ABANDONED_MS) kept.push(name);
    }
    return kept.map((name) => join(folder, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** How long ago a file was written to; 0 when another process has removed it. */
async function ageMsOf(path: string): Promise<number> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return 0;
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
