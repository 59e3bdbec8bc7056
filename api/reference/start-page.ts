import type { Express } from 'express';
import type { Config } from '../../shared/platform/config.ts';

const pageOf = (links: string[]) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Everpost</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 3rem auto; padding: 0 1rem; }
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
          '<a href="/docs">Documentation and API reference</a>',
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
