import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { versionOf, type ServedFile, type ServedFiles } from './served-files.ts';

/** The custom properties of colours, type and space, for pages that hold their style themselves. */
export const tokensCss = readFileSync(path.join(import.meta.dirname, 'tokens.css'), 'utf8');

/** `look.css` (tokens, base elements, font), `scheme.js`, and the files of the font by their path. */
export interface Look extends ServedFiles {
  /** What the head of a page needs, where the files are served at `/look/<version>/<name>`. */
  head: string;
}

let look: Look | undefined;

/** Reads what console, docs and mailbox share: the style sheet, the font, and the script that keeps the scheme. */
export function readLook(): Look {
  return (look ??= makeLook());
}

function makeLook(): Look {
  const own = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8');
  const font = path.dirname(createRequire(import.meta.url).resolve('@fontsource-variable/inter/package.json'));
  // A font that comes too late would move the text, so it is used from the next page on.
  const faces = readFileSync(path.join(font, 'wght.css'), 'utf8').replaceAll('display: swap', 'display: optional');
  const files = new Map<string, ServedFile>([
    ['look.css', { type: 'text/css; charset=utf-8', body: Buffer.from(tokensCss + own('base.css') + faces) }],
    ['scheme.js', { type: 'text/javascript; charset=utf-8', body: Buffer.from(own('scheme.js')) }],
  ]);
  for (const name of readdirSync(path.join(font, 'files')).sort()) {
    if (!name.endsWith('-wght-normal.woff2')) continue;
    files.set(`files/${name}`, { type: 'font/woff2', body: readFileSync(path.join(font, 'files', name)) });
  }
  const version = versionOf(files);
  const at = `/look/${version}`;
  const head = [
    `<link rel="preload" href="${at}/files/inter-latin-wght-normal.woff2" as="font" type="font/woff2" crossorigin>`,
    `<link rel="stylesheet" href="${at}/look.css">`,
    `<script src="${at}/scheme.js"></script>`,
  ].join('\n');
  return { version, files, head };
}
