import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import express, { type Express } from 'express';
import { versionOf, type ServedFiles } from '../../shared/platform/look/served-files.ts';
import { projectRoot } from '../../shared/platform/paths.ts';
import { OWN_FILES_POLICY } from '../http/page-policy.ts';
import { createFileSender, mountServedFiles } from '../http/served-files.ts';
import type { Node } from '../reference/document-node.ts';
import { readApiExamples } from '../reference/examples.ts';
import { createSite, type Site } from './pages/site.ts';

const CACHE = 'public, max-age=300';
const ASSETS = path.join(import.meta.dirname, 'assets');
const TYPES: Readonly<Record<string, string>> = { '.js': 'js', '.css': 'css' };

/** Old pages, and where their text is now. */
const MOVED: Readonly<Record<string, string>> = {
  '/docs/guides/keys': '/docs/keys',
  '/docs/guides/receiving-webhooks': '/docs/webhooks',
  '/docs/campaigns': '/docs/guides/campaigns',
};

/** The scripts and the style sheet of the docs by their names. */
function readAssets(): ServedFiles {
  const own = readdirSync(ASSETS).filter((name) => path.extname(name) in TYPES);
  const search = createRequire(import.meta.url)
    .resolve('minisearch')
    .replace(/dist.*$/, 'dist/es/index.js');
  const texts = new Map(own.sort().map((name) => [name, readFileSync(path.join(ASSETS, name), 'utf8')]));
  texts.set('minisearch.js', readFileSync(search, 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, ''));
  const files = new Map(
    [...texts].map(([name, text]) => [name, { type: TYPES[path.extname(name)] ?? '', body: Buffer.from(text) }]),
  );
  return { version: versionOf(files), files };
}

/**
 * Mounts the docs at `GET /docs`, and `/llms.txt`. They are made from the Markdown files of `docs/` and from the OpenAPI
 * document, and need no key.
 */
export function mountDocs(app: Express, readDocument: () => Node, apiUrl: string): void {
  const assets = readAssets();
  const send = createFileSender();
  let site: Promise<Site> | undefined;
  const readSite = (): Promise<Site> => (site ??= createSite(readDocument(), readApiExamples(), assets));

  mountServedFiles(app, '/docs/assets/:version/*file', assets);
  app.get('/docs/search.json', async (req, res) => {
    res.setHeader('Cache-Control', CACHE);
    await send(req, res, 'json', await (await readSite()).searchIndex());
  });
  app.get('/llms.txt', async (req, res) => {
    res.setHeader('Cache-Control', CACHE);
    await send(req, res, 'text/plain', (await readSite()).llmsText(apiUrl));
  });
  app.use('/docs/images', express.static(path.join(projectRoot, 'docs', 'images'), { index: false, maxAge: '1d' }));

  app.get(['/docs{/*path}', '/docs.md'], async (req, res) => {
    const address = decodeURIComponent(req.path).replace(/\/+$/, '');
    const isFile = address.endsWith('.md');
    const page = isFile ? address.slice(0, -'.md'.length).replace(/\/README$/, '') : address;
    if (MOVED[page] !== undefined) {
      res.redirect(301, `${MOVED[page]}${isFile ? '.md' : ''}`);
      return;
    }
    res.vary('Accept');
    const wantsMarkdown = isFile || req.accepts(['html', 'text/markdown']) === 'text/markdown';
    const pages = await readSite();
    const text = wantsMarkdown ? pages.markdown(page) : pages.page(page);
    res.setHeader('Content-Security-Policy', OWN_FILES_POLICY);
    if (text === undefined) {
      await send(req, res.status(404), 'html', pages.missingPage());
      return;
    }
    res.setHeader('Cache-Control', CACHE);
    await send(req, res, wantsMarkdown ? 'text/markdown' : 'html', text);
  });
}
