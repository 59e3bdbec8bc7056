import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { projectRoot } from '../../shared/platform/paths.ts';
import { readLook } from '../../shared/platform/look/look.ts';
import { readConsoleFiles } from './console-files.ts';

const WEB = path.join(projectRoot, 'api', 'console', 'web');
/** The largest size of script and style, compressed. */
const BYTES_MAX = 120_000;

/** The words that CONTRIBUTING.md replaces. */
function oldWords(): string[] {
  const page = readFileSync(path.join(projectRoot, 'CONTRIBUTING.md'), 'utf8');
  const table = page.slice(page.indexOf('| say | not |'));
  return [...table.slice(0, table.indexOf('\n\n')).matchAll(/^\| [^|]+ \| ([^|]+) \|$/gm)]
    .slice(1)
    .flatMap(([, words = '']) => words.replace(/ \(.*\)/, '').split(', '));
}

it('the console says nothing in the old words', () => {
  const words = oldWords();
  expect(words).toContain('Look now');
  const found = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.mjs'))
    .flatMap((name) => {
      // Words of comments and names of types are for programmers.
      const text = readFileSync(path.join(WEB, name), 'utf8').replaceAll(/\/\*\*[^]*?\*\/|\/\/.*/g, '');
      return words.filter((word) => text.includes(word)).map((word) => `${name}: ${word}`);
    });
  expect(found).toEqual([]);
});

// htm leaves out the space of a line's end.
it('no word of the console runs into an element on the next line', () => {
  const found = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.mjs'))
    .flatMap((name) => {
      const text = readFileSync(path.join(WEB, name), 'utf8').replaceAll(/\/\*\*[^]*?\*\/|\/\/.*/g, '');
      const ends = /[\w,;:.…]\n *<(?:a|bdi|code|em|strong|\$\{Time\})[ >]|<\/(?:a|bdi|code|em|strong)>\n *[\w(].*/g;
      return [...text.matchAll(ends)].map(([place]) => `${name}: ${place}`);
    });
  expect(found).toEqual([]);
});

it('every guide that the console names is a page of the docs', () => {
  const guides = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.mjs'))
    .flatMap((name) => [
      ...readFileSync(path.join(WEB, name), 'utf8').matchAll(/guide="([^"]+)"|"\/docs\/([^"#]+)[^"]*"/g),
    ])
    .map(([, guide, page]) => guide ?? page ?? '');
  expect(guides.length).toBeGreaterThan(10);
  expect(guides.filter((guide) => !existsSync(path.join(projectRoot, 'docs', `${guide}.md`)))).toEqual([]);
});

it('script and style of the console are small', () => {
  const texts = [...readConsoleFiles().files, ...readLook().files].filter(([name]) => /\.(mjs|js|css)$/.test(name));
  const sum = texts.reduce((total, [, { body }]) => total + gzipSync(body).length, 0);
  expect(sum).toBeLessThanOrEqual(BYTES_MAX);
});
