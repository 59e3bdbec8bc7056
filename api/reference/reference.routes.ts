import type { Express } from 'express';
import type { Endpoint } from '../http/endpoint.ts';
import { sendJson } from '../http/json-reply.ts';
import type { Node } from './document-node.ts';
import { readApiExamples } from './examples.ts';
import { createOpenApiDocument } from './openapi.ts';

/**
 * Mounts `GET /openapi.json`, which is made from the endpoints.
 * @returns a function that gives the document. Only the first call makes it, because that takes longer than the rest of
 *   the start.
 */
export function mountReference(app: Express, endpoints: Endpoint[], publicUrl: string): () => Node {
  let document: Node | undefined;
  const read = (): Node =>
    (document ??= createOpenApiDocument(endpoints, publicUrl, readApiExamples()) as unknown as Node);
  let body: Buffer | undefined;
  app.get('/openapi.json', (_req, res) => {
    sendJson(res, [(body ??= Buffer.from(JSON.stringify(read())))]);
  });
  return read;
}
