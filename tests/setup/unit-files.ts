import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../shared/platform/paths.ts';

/** What a unit test may not reach: the servers of a test run, other processes, browsers. */
const SERVERS = path.join(projectRoot, 'tests/support/environment.ts');
const REFUSED_MODULES = ['node:child_process', 'puppeteer-core', '@temporalio/testing'];
/** Imports of values. Those of types are gone when the file runs. */
const IMPORT = /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm;

/** Whether a module, or one that it imports, needs more than its own process. Remembers the answers in `known`. */
function reachesMore(file: string, known: Map<string, boolean>): boolean {
  const answer = known.get(file);
  if (answer !== undefined) return answer;
  // A circle of modules reaches no more than its other imports do.
  known.set(file, false);
  // A module that writes modules contains imports that are only text.
  if (!existsSync(file)) return false;
  const specifiers = [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, fixed, lazy]) => fixed ?? lazy ?? '');
  const reaches =
    file === SERVERS ||
    specifiers.some((specifier) =>
      specifier.startsWith('.')
        ? reachesMore(path.resolve(path.dirname(file), specifier), known)
        : REFUSED_MODULES.includes(specifier),
    );
  known.set(file, reaches);
  return reaches;
}

/** The test files that need no server, no other process and no browser, by what they import; absolute paths. */
export function unitTestFiles(): string[] {
  const known = new Map<string, boolean>();
  return readdirSync(projectRoot, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'))
    .flatMap(({ name }) =>
      readdirSync(path.join(projectRoot, name), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.test.ts'))
        .map((file) => path.join(projectRoot, name, file)),
    )
    .filter((file) => !reachesMore(file, known));
}
