import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const WEB_FOLDER = path.join(import.meta.dirname, 'web');
const TYPES: Record<string, string> = {
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const VERSION_LENGTH = 16;

interface ConsoleFile {
  /** Content-Type. */
  type: string;
  body: Buffer;
}

export interface ConsoleFiles {
  /** Changes with any of the files, and stands in the address of each. */
  version: string;
  /** By path below `web`: `views/today.mjs`. */
  files: ReadonlyMap<string, ConsoleFile>;
  /** The page, with the version in its addresses. */
  page: Buffer;
}

/** The files of packages, as the packages ship them, by the address that the modules of the console import. */
function packageFiles(): [name: string, file: string][] {
  const resolver = createRequire(import.meta.url);
  const besides = (packageName: string, file: string) => path.join(path.dirname(resolver.resolve(packageName)), file);
  return [
    ['lib/preact.mjs', besides('preact', 'preact.mjs')],
    ['lib/htm.mjs', besides('htm', 'htm.mjs')],
    ['lib/uplot.mjs', besides('uplot', 'uPlot.esm.js')],
    ['lib/uplot.css', besides('uplot', 'uPlot.min.css')],
  ];
}

function ownFiles(): [name: string, file: string][] {
  return readdirSync(WEB_FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => path.extname(name) in TYPES)
    .sort()
    .map((name) => [name.replaceAll(path.sep, '/'), path.join(WEB_FOLDER, name)]);
}

/** Reads all files of the console into memory. */
export function readConsoleFiles(): ConsoleFiles {
  const named = new Map([...ownFiles(), ...packageFiles()]);
  const files = new Map(
    [...named].map(([name, file]) => [name, { type: TYPES[path.extname(name)] ?? '', body: readFileSync(file) }]),
  );
  const page = readFileSync(path.join(WEB_FOLDER, 'index.html'), 'utf8');
  const hash = createHash('sha256').update(page);
  for (const [name, { body }] of files) hash.update(`${name}\n${body.length}\n`).update(body);
  const version = hash.digest('hex').slice(0, VERSION_LENGTH);
  return { version, files, page: Buffer.from(page.replaceAll('{version}', version)) };
}
