import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import express, { type Express, type Request, type Response } from 'express';
import { projectRoot } from '../../shared/platform/paths.ts';
import { OWN_FILES_POLICY } from '../http/page-policy.ts';
import { keepForYear } from '../http/served-files.ts';
import type { Node } from '../reference/document-node.ts';
import { readApiExamples } from '../reference/examples.ts';
import { createSite, type Site } from './pages/site.ts';

const CACHE = 'public, max-age=300';
const ASSETS = path.join(import.meta.dirname, 'assets');
const VERSION_LENGTH = 16;
const zip = promisify(gzip);

/** Old pages, and where their text is now. */
const MOVED: Readonly<Record<string, string>> = {
  '/docs/guides/keys': '/docs/keys',
  '/docs/guides/receiving-webhooks': '/docs/webhooks',
  '/docs/campaigns': '/docs/guides/campaigns',
};

/** The scripts and the style sheet of the docs by their names. */
function readAssets(): { version: string; files: Map<string, string> } {
  const own = readdirSync(ASSETS).filter((name) => /\.(?:js|css)$/.test(name));
  const search = createRequire(import.meta.url)
    .resolve('minisearch')
    .replace(/dist.*$/, 'dist/es/index.js');
  const files = new Map(own.sort().map((name) => [name, readFileSync(path.join(ASSETS, name), 'utf8')]));
  files.set('minisearch.js', readFileSync(search, 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, ''));
  const version = createHash('sha256')
    .update(JSON.stringify([...files]))
    .digest('hex')
    .slice(0, VERSION_LENGTH);
  return { version, files };
}

/**
 * Creates a function that sends texts, compressed where the client takes that. Each text is compressed once, and kept by
 * itself: there are as many as pages, whatever addresses clients ask for.
 */
function createSender() {
  const zipped = new Map<string, Promise<Buffer>>();
  return async (req: Request, res: Response, type: string, text: string): Promise<void> => {
    res.vary('Accept-Encoding');
    res.type(type);
    if (!req.acceptsEncodings('gzip')) {
      res.send(text);
      return;
    }
    const body = zipped.get(text) ?? zip(text);
    zipped.set(text, body);
    res.setHeader('Content-Encoding', 'gzip');
    res.send(await body);
  };
}

/**
 * Mounts the docs at `GET /docs`, and `/llms.txt`. They are made from the Markdown files of `docs/` and from the OpenAPI
 * document, and need no key.
 */
export function mountDocs(app: Express, readDocument: () => Node, apiUrl: string): void {
  const assets = readAssets();
  const send = createSender();
  let site: Promise<Site> | undefined;
  const readSite = (): Promise<Site> => (site ??= createSite(readDocument(), readApiExamples(), assets));

  app.get('/docs/assets/:version/:name', async (req, res, next) => {
    const file = assets.files.get(req.params.name);
    if (file === undefined) {
      next();
      return;
    }
    keepForYear(res, req.params.version === assets.version);
    await send(req, res, path.extname(req.params.name), file);
  });
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
