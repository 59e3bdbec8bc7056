import { readFileSync } from 'node:fs';
import path from 'node:path';
import express, { type Express, type Response } from 'express';
import { projectRoot } from '../../shared/platform/paths.ts';
import { OWN_FILES_POLICY } from '../http/page-policy.ts';
import { createSite, type Site } from './site.ts';

const CACHE = 'public, max-age=300';
const ASSETS = path.join(import.meta.dirname, 'assets');

function sendPage(res: Response, html: string): void {
  res.setHeader('Content-Security-Policy', OWN_FILES_POLICY);
  res.type('html').send(html);
}

/** Mounts the guides at `GET /docs`, which are made from the Markdown files of `docs/` and need no key. */
export function mountDocs(app: Express): void {
  let site: Site | undefined;
  const readSite = (): Site => (site ??= createSite());

  for (const name of ['docs.css', 'docs.js']) {
    const asset = readFileSync(path.join(ASSETS, name));
    app.get(`/docs/${name}`, (_req, res) => {
      res.setHeader('Cache-Control', CACHE);
      res.type(path.extname(name)).send(asset);
    });
  }
  app.get('/docs/search.json', (_req, res) => {
    res.setHeader('Cache-Control', CACHE);
    res.json(readSite().searchIndex());
  });
  app.use('/docs/images', express.static(path.join(projectRoot, 'docs', 'images'), { index: false, maxAge: '1d' }));
  app.get('/docs{/*path}', (req, res) => {
    const { path: parts = [] } = req.params as { path?: string[] };
    const html = readSite().page(['/docs', ...parts].join('/'));
    if (html === undefined) {
      sendPage(res.status(404), readSite().missingPage());
      return;
    }
    res.setHeader('Cache-Control', CACHE);
    sendPage(res, html);
  });
}
