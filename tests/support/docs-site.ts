import { readApiExamples, type ApiExamples } from '../../api/reference/examples.ts';
import type { Node } from '../../api/reference/document-node.ts';
import { createOpenApiDocument } from '../../api/reference/openapi.ts';
import { createEndpoints } from '../../api/routes.ts';
import { createSite, type Site } from '../../api/docs/pages/site.ts';
import { testConfig } from './config.ts';

/** The OpenAPI document with its examples. */
export function openApiNode(examples: ApiExamples = readApiExamples()): Node {
  return createOpenApiDocument(createEndpoints(testConfig()), 'https://everpost.test', examples) as unknown as Node;
}

/** The docs without a server. */
export function createTestSite(examples: ApiExamples = readApiExamples()): Promise<Site> {
  return createSite(openApiNode(examples), examples, { version: 'test' });
}
