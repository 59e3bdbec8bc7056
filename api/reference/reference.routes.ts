import express, { type Express } from 'express';
import { absolutePath } from 'swagger-ui-dist';
import type { Endpoint } from '../http/endpoint.ts';
import { createOpenApiDocument } from './openapi.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Everpost API reference</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>`;

const PAGE_SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: true,
});`;

/** `GET /openapi.json` and the readable reference at `GET /docs`, both made from the endpoints themselves. */
export function mountReference(app: Express, endpoints: Endpoint[], publicUrl: string): void {
  const document = createOpenApiDocument(endpoints, publicUrl);
  app.get('/openapi.json', (_req, res) => {
    res.json(document);
  });
  app.get('/docs', (_req, res) => {
    res.type('html').send(PAGE);
  });
  app.get('/docs/page.js', (_req, res) => {
    res.type('js').send(PAGE_SCRIPT);
  });
  app.use('/docs/assets', express.static(absolutePath(), { index: false, maxAge: '1d' }));
}
