import type { ZodOpenApiHeaderObject } from 'zod-openapi';
import { IGNORED_FIELDS_HEADER } from '../http/ignored-fields.ts';
import { itemOf } from '../http/location.ts';
import type { Endpoint } from '../http/endpoint.ts';

function header(description: string, type: 'string' | 'integer', example: string | number): ZodOpenApiHeaderObject {
  return { description, schema: { type, examples: [example] } };
}

/** The headers of answers, as components of the OpenAPI document. */
export const HEADERS: Record<string, ZodOpenApiHeaderObject> = {
  'X-Request-ID': header(
    'The id of the request; the one that the caller sent, if it has 1 to 128 visible ASCII characters, none of them @ or %',
    'string',
    '6f1c2b9e',
  ),
  'RateLimit-Limit': header('Requests that the project may make in a minute', 'integer', 1000),
  'RateLimit-Remaining': header('Requests that are left in this minute', 'integer', 998),
  'RateLimit-Reset': header('Seconds until the minute ends', 'integer', 42),
  'Retry-After': header('Seconds after which to try again', 'integer', 2),
  Location: header(
    'The path of the record that was created',
    'string',
    '/contacts/0198c0de-0000-7000-8000-000000000001',
  ),
  [IGNORED_FIELDS_HEADER]: header(
    'Keys of the body and parameters of the query that this endpoint does not know, comma-separated; the first 20',
    'string',
    'cc, attachments.0.name, query.limit',
  ),
};

const RETRIED = new Set([429, 503]);

/** References to the headers that an answer of an endpoint has. */
export function headersOf(definition: Endpoint, status: number, endpoints: readonly Endpoint[]) {
  const names = [
    'X-Request-ID',
    // Other errors of counted requests have them, too, but to repeat that with each would double the document.
    ...(status < 300 || status === 429 ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] : []),
    ...(RETRIED.has(status) ? ['Retry-After'] : []),
    ...(status === 201 && itemOf(definition, endpoints) ? ['Location'] : []),
    ...(status < 300 ? [IGNORED_FIELDS_HEADER] : []),
  ];
  return {
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }])),
  };
}
