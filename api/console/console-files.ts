import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { readLook } from '../../shared/platform/look/look.ts';
import { versionOf, type ServedFiles } from '../../shared/platform/look/served-files.ts';

const WEB_FOLDER = path.join(import.meta.dirname, 'web');
const CONTENT_TYPES: Record<string, string> = {
  '.mjs': 'text/javascript; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** The icons of the console, by their names in the package. */
const ICONS = [
  'arrow-path',
  'bars-3',
  'bolt',
  'check-circle',
  'chevron-right',
  'clipboard',
  'clock',
  'cog-6-tooth',
  'document-text',
  'ellipsis-horizontal',
  'envelope',
  'exclamation-triangle',
  'funnel',
  'globe-alt',
  'hand-raised',
  'home',
  'inbox',
  'key',
  'link',
  'lock-closed',
  'magnifying-glass',
  'megaphone',
  'no-symbol',
  'paper-airplane',
  'pause',
  'play',
  'signal',
  'square-2-stack',
  'tag',
  'user',
  'user-circle',
  'users',
  'x-mark',
];

/** The files by their path below `web`, such as `views/today.mjs`. */
export interface ConsoleFiles extends ServedFiles {
  /** The page, with the version in its addresses. */
  page: Buffer;
  /** The document that shows the HTML of an email (web/frame.js). */
  frame: Buffer;
}

const resolver = createRequire(import.meta.url);

/** The files of packages, unchanged, by the path that the modules of the console import. */
function packageFiles(): [name: string, body: Buffer][] {
  const fileIn = (packageName: string, file: string) =>
    readFileSync(path.join(path.dirname(resolver.resolve(packageName)), file));
  return [
    ['lib/preact.mjs', fileIn('preact', 'preact.mjs')],
    ['lib/htm.mjs', fileIn('htm', 'htm.mjs')],
    ['lib/icons.mjs', iconModule()],
  ];
}

function iconModule(): Buffer {
  const folder = path.join(path.dirname(resolver.resolve('heroicons/package.json')), '24', 'outline');
  const pathsOf = (name: string) => {
    const drawing = readFileSync(path.join(folder, `${name}.svg`), 'utf8');
    return [...drawing.matchAll(/ d="([^"]+)"/g)].map(([, drawn]) => drawn);
  };
  const icons = Object.fromEntries(ICONS.map((name) => [name, pathsOf(name)]));
  return Buffer.from(`export default ${JSON.stringify(icons)};\n`);
}

function ownFiles(): [name: string, body: Buffer][] {
  return readdirSync(WEB_FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => path.extname(name) in CONTENT_TYPES)
    .sort()
    .map((name) => [name.replaceAll(path.sep, '/'), readFileSync(path.join(WEB_FOLDER, name))]);
}

/** Reads all files of the console into memory. */
export function readConsoleFiles(): ConsoleFiles {
  const named = new Map([...ownFiles(), ...packageFiles()]);
  const files = new Map(
    [...named].map(([name, body]) => [name, { type: CONTENT_TYPES[path.extname(name)] ?? '', body }]),
  );
  const [page = '', frame = ''] = ['index.html', 'frame.html'].map((name) =>
    readFileSync(path.join(WEB_FOLDER, name), 'utf8'),
  );
  const version = versionOf(files, [page, frame]);
  // Without these links, each module would be asked for only when the one that imports it has come.
  const modules = [...named.keys()]
    .filter((name) => name.endsWith('.mjs') && name !== 'main.mjs')
    .map((name) => `<link rel="modulepreload" href="/console/assets/{version}/${name}" />`);
  const filled = (text: string) =>
    Buffer.from(text.replace('{look}', `${readLook().head}\n${modules.join('\n')}`).replaceAll('{version}', version));
  return { version, files, page: filled(page), frame: filled(frame) };
}
