import type { Express } from 'express';
import type { Endpoint } from '../http/endpoint.ts';
import { sendJson } from '../http/json-reply.ts';
import type { Node } from './document-node.ts';
import { readApiExamples } from './examples.ts';
import { createOpenApiDocument } from './openapi.ts';

/**
 * Mounts `GET /openapi.json`, which is made from the endpoints.
 * @returns a function that gives the document. The first call makes it, which takes longer than the rest of the start.
 */
export function mountReference(app: Express, endpoints: Endpoint[], publicUrl: string): () => Node {
  let made: { document: Node; body: Buffer } | undefined;
  const make = () => {
    const document = createOpenApiDocument(endpoints, publicUrl, readApiExamples());
    return { document: document as unknown as Node, body: Buffer.from(JSON.stringify(document)) };
  };
  const read = () => (made ??= make());
  app.get('/openapi.json', (_req, res) => {
    sendJson(res, [read().body]);
  });
  return () => read().document;
}
