import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { z } from 'zod';

/** Advice for a person about an error of the file system. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Free some space and start again',
  EDQUOT: 'the disk quota is used up. Free some space and start again',
  EACCES: 'this user may not write there. Change its owner, or set EVERPOST_HOME to another folder',
  EPERM: 'this user may not write there. Change its owner, or set EVERPOST_HOME to another folder',
  EROFS: 'the file system is read-only. Set EVERPOST_HOME to another folder',
  EEXIST: 'it is not a folder. Move it away, or set EVERPOST_HOME to another folder',
  ENOTDIR: 'a part of its path is not a folder. Move it away, or set EVERPOST_HOME to another folder',
  EISDIR: 'it is a folder, and should be a file. Move it away and start again',
};

function fault(path: string, error: unknown): Error {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new Error(`${path} cannot be used: ${ADVICE[code] ?? message}.`, { cause: error });
}

/** Makes a folder that can be written to. @throws Error with a sentence that names it and says what to do */
export function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw fault(folder, error);
  }
}

/**
 * Writes a file that only this user may read, in one step: if the process or the machine stops, the file has the old
 * content or the new one. @throws Error with a sentence that names it and says what to do
 */
export function writePrivateFile(file: string, content: string): void {
  const building = `${file}.new`;
  try {
    const descriptor = openSync(building, 'w', 0o600);
    try {
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(building, file);
  } catch (error) {
    rmSync(building, { force: true, recursive: true });
    throw fault(file, error);
  }
}

/** As `writePrivateFile`, with a value as JSON. */
export function writePrivateJson(file: string, value: object): void {
  writePrivateFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** The content of a file; undefined when there is none. @throws Error with a sentence that names it */
export function readFileIfAny(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fault(file, error);
  }
}

/**
 * Reads a JSON file; undefined when there is none.
 * @param advice what to do about a damaged one, as a sentence
 * @throws Error when it does not fit `schema`; the file stays as it is
 */
export function readJsonFile<T>(file: string, schema: z.ZodType<T>, advice: string): T | undefined {
  const content = readFileIfAny(file);
  if (content === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(content));
  } catch (error) {
    throw new Error(`${file} is damaged and was left as it is. ${advice}`, { cause: error });
  }
}
