import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const WEB_FOLDER = path.join(import.meta.dirname, 'web');
const CONTENT_TYPES: Record<string, string> = {
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const VERSION_LENGTH = 16;

interface ConsoleFile {
  /** Its Content-Type. */
  type: string;
  body: Buffer;
}

export interface ConsoleFiles {
  /** A digest of all files, which is a part of the address of each. */
  version: string;
  /** The files by their path below `web`, such as `views/today.mjs`. */
  files: ReadonlyMap<string, ConsoleFile>;
  /** The page, with the version in its addresses. */
  page: Buffer;
}

/** The files of packages, unchanged, by the path that the modules of the console import. */
function packageFiles(): [name: string, file: string][] {
  const resolver = createRequire(import.meta.url);
  const fileIn = (packageName: string, file: string) => path.join(path.dirname(resolver.resolve(packageName)), file);
  return [
    ['lib/preact.mjs', fileIn('preact', 'preact.mjs')],
    ['lib/htm.mjs', fileIn('htm', 'htm.mjs')],
    ['lib/uplot.mjs', fileIn('uplot', 'uPlot.esm.js')],
    ['lib/uplot.css', fileIn('uplot', 'uPlot.min.css')],
  ];
}

function ownFiles(): [name: string, file: string][] {
  return readdirSync(WEB_FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => path.extname(name) in CONTENT_TYPES)
    .sort()
    .map((name) => [name.replaceAll(path.sep, '/'), path.join(WEB_FOLDER, name)]);
}

/** Reads all files of the console into memory. */
export function readConsoleFiles(): ConsoleFiles {
  const named = new Map([...ownFiles(), ...packageFiles()]);
  const files = new Map(
    [...named].map(([name, file]) => [
      name,
      { type: CONTENT_TYPES[path.extname(name)] ?? '', body: readFileSync(file) },
    ]),
  );
  const page = readFileSync(path.join(WEB_FOLDER, 'index.html'), 'utf8');
  const hash = createHash('sha256').update(page);
  for (const [name, { body }] of files) hash.update(`${name}\n${body.length}\n`).update(body);
  const version = hash.digest('hex').slice(0, VERSION_LENGTH);
  return { version, files, page: Buffer.from(page.replaceAll('{version}', version)) };
}
