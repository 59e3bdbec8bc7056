import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the folder that holds package.json. */
export const projectRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Folder of everything that the local stack stores: databases, mailbox, logs, keys. `EVERPOST_HOME` moves it; a
 * relative value is resolved against the project root.
 */
export function everpostHome(env: NodeJS.ProcessEnv = process.env): string {
  return path.resolve(projectRoot, env['EVERPOST_HOME'] || '.everpost');
}

/** Folder of downloaded or built programs, shared by all clones of one user (XDG base directories). */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'everpost');
}
