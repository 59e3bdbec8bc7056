import type { Express } from 'express';
import type { Endpoint } from '../http/endpoint.ts';
import { sendJson } from '../http/json-reply.ts';
import type { Node } from './document-node.ts';
import { readApiExamples } from './examples.ts';
import { createOpenApiDocument } from './openapi.ts';

/** Mounts `GET /openapi.json`, which is made from the endpoints. @returns the document */
export function mountReference(app: Express, endpoints: Endpoint[], publicUrl: string): Node {
  const document = createOpenApiDocument(endpoints, publicUrl, readApiExamples());
  const body = Buffer.from(JSON.stringify(document));
  app.get('/openapi.json', (_req, res) => {
    sendJson(res, [body]);
  });
  return document as unknown as Node;
}
