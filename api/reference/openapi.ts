import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { ERROR_CATALOGUE, type ErrorCode } from '../../shared/pure/error-catalogue.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { hasIgnoredFields, IGNORED_FIELDS_HEADER } from '../http/ignored-fields.ts';

const fieldErrorSchema = z.object({
  field: z.string().meta({ examples: ['attachments.0.filename'] }),
  message: z.string(),
  code: z.string().meta({ examples: ['invalid_type'] }),
  received: z.unknown().optional(),
});

const errorSchema = z
  .object({
    success: z.literal(false),
    error: z.object({
      code: z.string(),
      message: z.string(),
      statusCode: z.int(),
      requestId: z.string(),
      errors: z.array(fieldErrorSchema).optional(),
      details: z.record(z.string(), z.unknown()).optional(),
      suggestion: z.string().optional(),
    }),
    timestamp: z.iso.datetime(),
  })
  .meta({ id: 'Error' });

const flatErrorSchema = z.object({ error: z.string() }).meta({ id: 'FlatError' });

/** A URL that cannot be decoded is a 400 everywhere, and text that cannot be stored a 422, also in what is not declared. */
const COMMON_ERRORS: ErrorCode[] = [
  'BAD_REQUEST',
  'INVALID_API_KEY',
  'PROJECT_DISABLED',
  'VALIDATION_ERROR',
  'HEADERS_TOO_LARGE',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
];

function errorCodesOf(definition: Endpoint): ErrorCode[] {
  const codes = new Set<ErrorCode>([...COMMON_ERRORS, ...(definition.errors ?? [])]);
  if (definition.method !== 'get') {
    const ofBodies = ['REQUEST_TIMEOUT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;
    for (const code of ofBodies) codes.add(code);
  }
  if (definition.idempotent) codes.add('IDEMPOTENCY_KEY_REUSED');
  if (definition.params && definition.badIdIs) codes.add(definition.badIdIs);
  return [...codes];
}

function errorResponses(definition: Endpoint) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(definition)) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `${code}: ${ERROR_CATALOGUE[code].message}`).join('; '),
        content: {
          'application/json': {
            schema:
              status === 400 && definition.flatRequirements ? z.union([errorSchema, flatErrorSchema]) : errorSchema,
          },
        },
      },
    ]),
  );
}

const ignoredFieldsHeaders = z.object({
  [IGNORED_FIELDS_HEADER]: z
    .string()
    .optional()
    .meta({
      description: 'Keys of the body that this endpoint does not know, comma-separated; the first 20',
      examples: ['cc, bcc'],
    }),
});

function replyResponses(definition: Endpoint) {
  const headers = hasIgnoredFields(definition) ? { headers: ignoredFieldsHeaders } : {};
  return Object.fromEntries(
    Object.entries(definition.replies).map(([status, reply]) => {
      const schema =
        reply.schema && definition.envelope
          ? z.object({ success: z.literal(true), data: reply.schema, message: z.string().optional() })
          : reply.schema;
      return [
        status,
        {
          description: reply.description,
          ...headers,
          ...(schema && {
            content: { 'application/json': { schema }, ...(reply.csv && { 'text/csv': { schema: z.string() } }) },
          }),
        },
      ];
    }),
  );
}

function formSchema(field: string) {
  return z.object({ [field]: z.string().meta({ format: 'binary' }) });
}

function operationOf(definition: Endpoint): ZodOpenApiOperationObject {
  const header = definition.idempotent
    ? z.object({
        'Idempotency-Key': z
          .string()
          .min(1)
          .max(255)
          .optional()
          .meta({ description: 'At most once per key and project' }),
      })
    : undefined;
  return {
    operationId: definition.operationId,
    tags: [definition.tag],
    summary: definition.summary,
    ...(definition.description !== undefined && { description: definition.description }),
    security: [definition.key === 'public' ? { publicKey: [] } : { secretKey: [] }],
    requestParams: {
      ...(definition.params instanceof z.ZodObject && { path: definition.params }),
      ...(definition.query instanceof z.ZodObject && { query: definition.query }),
      ...(header && { header }),
    },
    ...(definition.multipart && {
      requestBody: { content: { 'multipart/form-data': { schema: formSchema(definition.multipart.field) } } },
    }),
    ...(definition.body && { requestBody: { content: { 'application/json': { schema: definition.body } } } }),
    responses: {
      ...replyResponses(definition),
      ...errorResponses(definition),
    },
  };
}

/** The OpenAPI 3.1 description of the endpoints, made from the declarations that serve them. */
export function createOpenApiDocument(endpoints: Endpoint[], publicUrl: string) {
  const paths: ZodOpenApiPathsObject = {};
  for (const definition of endpoints) {
    const path = definition.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [definition.method]: operationOf(definition) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Everpost API',
      version: '1.0.0',
      description: 'Transactional sending, event tracking, contacts, templates, segments, campaigns and automations.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    components: {
      securitySchemes: {
        secretKey: { type: 'http', scheme: 'bearer', description: 'The secret key, sk_…' },
        publicKey: { type: 'http', scheme: 'bearer', description: 'The public key, pk_…, for POST /v1/track only' },
      },
    },
    paths,
  });
}
