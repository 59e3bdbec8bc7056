import type { Express } from 'express';
import type { Config } from '../../shared/platform/config.ts';
import { tokensCss } from '../../shared/platform/look/look.ts';

const pageOf = (links: string[]) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Everpost</title>
<style>
${tokensCss}
body { max-width: 36rem; margin: 12vh auto; padding: 0 16px; font: var(--lead); color: var(--ink); background: var(--ground); }
h1 { font: 650 1.75rem/2.25rem var(--sans); letter-spacing: -0.02em; }
p { color: var(--muted); }
ul { padding: 0; list-style: none; }
li { padding: 14px 0; border-top: 1px solid var(--hairline); color: var(--muted); }
a { color: var(--accent); font-weight: 500; }
</style>
</head>
<body>
<main>
<h1>Everpost</h1>
<p>This is the API of an email platform. Programs call it with a key.</p>
<ul>
${links.map((link) => `<li>${link}</li>`).join('\n')}
</ul>
</main>
</body>
</html>`;

/** Mounts `GET /` for people: links to the docs, the console and more. Programs, which ask for no HTML, get a 404. */
export function mountStartPage(app: Express, { CONSOLE, DOCS }: Pick<Config, 'CONSOLE' | 'DOCS'>): void {
  const page = pageOf([
    ...(DOCS
      ? [
          '<a href="/docs">Docs</a>: guides for each task',
          '<a href="/docs/reference">API reference</a>: every endpoint, to try',
          '<a href="/openapi.json">The OpenAPI document</a>, for generators',
        ]
      : []),
    ...(CONSOLE ? ['<a href="/console">Console</a>'] : []),
    '<a href="/ready">Whether this instance is ready</a>',
  ]);
  app.get('/', (req, res, next) => {
    if (req.accepts(['json', 'html']) === 'html') res.type('html').send(page);
    else next();
  });
}
