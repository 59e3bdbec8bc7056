import path from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type Express, type RequestHandler } from 'express';
import type { Endpoint } from '../http/endpoint.ts';
import { sendJson } from '../http/json-reply.ts';
import { readApiExamples } from './examples.ts';
import { createOpenApiDocument } from './openapi.ts';

/** The longest transfer of one file of the reference. */
const ASSET_MS = 60_000;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Everpost API reference</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<p><a href="/docs">Everpost docs</a></p>
<div id="reference"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>
</body>
</html>`;

const PAGE_SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // A stored secret key could be read by every script of this origin.
  persistAuthorization: false,
});`;

/** The folder of the page's files. An import of the package would load its 2 MB of browser code into this process. */
const ASSETS = path.dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

/** Ends a transfer that takes too long: files are streamed, and a reader without a key must not hold one forever. */
const limitDuration: RequestHandler = (req, res, next) => {
  const timer = setTimeout(() => req.socket.destroy(), ASSET_MS);
  res.once('close', () => clearTimeout(timer));
  next();
};

/**
 * Mounts `GET /openapi.json` and the reference for people at `GET /docs/reference`; both are made from the endpoints.
 */
export function mountReference(app: Express, endpoints: Endpoint[], publicUrl: string): void {
  const document = Buffer.from(JSON.stringify(createOpenApiDocument(endpoints, publicUrl, readApiExamples())));
  app.get('/openapi.json', (_req, res) => {
    sendJson(res, [document]);
  });
  app.get('/docs/reference', (_req, res) => {
    res.type('html').send(PAGE);
  });
  app.get('/docs/reference.js', (_req, res) => {
    res.type('js').send(PAGE_SCRIPT);
  });
  app.use('/docs/assets', limitDuration, express.static(ASSETS, { index: false, maxAge: '1d' }));
}
