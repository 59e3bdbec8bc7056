import { createHash } from 'node:crypto';

const VERSION_LENGTH = 16;

/** A file in memory that a page loads. */
export interface ServedFile {
  /** Its Content-Type. */
  type: string;
  body: Buffer;
}

/** Files by their paths, and a digest of all, which is a part of the address of each. */
export interface ServedFiles {
  version: string;
  files: ReadonlyMap<string, ServedFile>;
}

/** A digest of files, and of pages that name them. */
export function versionOf(files: ServedFiles['files'], pages: readonly string[] = []): string {
  const hash = createHash('sha256');
  for (const page of pages) hash.update(page);
  for (const [name, { body }] of files) hash.update(`${name}\n${body.length}\n`).update(body);
  return hash.digest('hex').slice(0, VERSION_LENGTH);
}
