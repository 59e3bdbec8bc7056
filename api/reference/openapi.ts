import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { STEP_CONFIG_COMPONENTS } from '../automations/step-config.schemas.ts';
import { keyKindOf, rolesOf, type Endpoint } from '../http/endpoint.ts';
import { ignoredFieldSchema } from '../http/ignored-fields.ts';
import { addExamples } from './add-examples.ts';
import { errorResponses } from './error-responses.ts';
import type { ApiExamples } from './examples.ts';
import { refineSchemas } from './refine-schemas.ts';
import { HEADERS, headersOf } from './response-headers.ts';
import { stepWebhook, webhookEvent } from './webhooks.ts';
import { itemOf } from '../http/location.ts';

/** A link to the endpoint that reads the record whose id is in a field of the answer. */
function linkTo(target: Endpoint | undefined, field: string) {
  if (target?.method !== 'get') return {};
  const names = [...target.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const parameters = Object.fromEntries(
    names.map((name, index) => [
      name,
      index === names.length - 1 ? `$response.body#${field}` : `$request.path.${name}`,
    ]),
  );
  const { operationId, summary } = target;
  return { links: { [operationId]: { operationId, description: summary, parameters } } };
}

/** The links of an answer: to the endpoint that reads the new record, or to the one that polls the job. */
function linksOf(definition: Endpoint, status: number, endpoints: readonly Endpoint[]) {
  const data = definition.hasEnvelope ? '/data' : '';
  if (status === 201) return linkTo(itemOf(definition, endpoints), `${data}/id`);
  if (status !== 202) return {};
  const jobPath = definition.multipart ? '/contacts/import/:jobId' : '/contacts/bulk/:jobId';
  return linkTo(
    endpoints.find(({ path }) => path === jobPath),
    `${data}/jobId`,
  );
}

/** The chapters of the reference. */
const TAGS = [
  { name: 'Public API', description: 'Sending, tracking and verifying: what an application calls every day.' },
  { name: 'Contacts', description: 'The people a project writes to, their custom data, imports and bulk operations.' },
  { name: 'Topics', description: 'What contacts may join and leave on their own, such as newsletters.' },
  { name: 'Templates', description: 'Content that emails are made from, with placeholders.' },
  { name: 'Campaigns', description: 'One email to many contacts, now or later.' },
  { name: 'Segments', description: 'Groups of contacts: those that fit a condition, or a list.' },
  { name: 'Workflows', description: 'Automations: steps that a contact goes through after an event.' },
  { name: 'Events', description: 'What contacts have done, and what happened to their email.' },
  { name: 'Domains', description: 'Domains to send from, and the DNS records that prove that they are yours.' },
  { name: 'Suppressions', description: 'Addresses that get no email, and how to undo mistaken bounces.' },
  { name: 'Webhooks', description: 'Endpoints of yours that events are sent to, signed and in order.' },
  { name: 'Activity', description: 'A feed of what has happened in the project, and figures for charts.' },
  { name: 'Emails', description: 'Every email with its state, its history, and why it waits.' },
  { name: 'Projects', description: 'The project of the key.' },
  { name: 'Keys', description: 'Keys with names and roles, and who did what.' },
];

const capitalized = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;

const pathOf = ({ path }: Endpoint): string => path.replaceAll(/:(\w+)/g, '{$1}');

/**
 * Names a schema that has no name, so that generated code has one type for it. An array keeps the type of its items.
 */
function named(schema: z.ZodType, id: string, description: string): z.ZodType {
  const meta = schema.meta();
  const isList = schema instanceof z.ZodArray;
  return meta?.id === undefined && !isList ? schema.meta({ ...meta, id, description }) : schema;
}

/** The schema of an answer in its envelope. */
function envelopeSchema(data: z.ZodType, { hasWarnings }: Endpoint, id: string, description: string): z.ZodType {
  const message = z.optional(z.string()).meta({ examples: ['Campaign is being sent'] });
  const warnings = z.array(ignoredFieldSchema).optional().describe('the fields of the request that were ignored');
  return z
    .object({ success: z.literal(true), data, message, ...(hasWarnings && { warnings }) })
    .meta({ id, description });
}

function replyResponses(definition: Endpoint, endpoints: readonly Endpoint[]) {
  const { operationId, hasEnvelope } = definition;
  return Object.fromEntries(
    Object.entries(definition.replies).map(([status, { schema: own, description, csv, row }]) => {
      const id = `${capitalized(operationId)}Response`;
      const data = own && named(own, hasEnvelope ? `${capitalized(operationId)}Result` : id, description);
      const schema = data && hasEnvelope ? envelopeSchema(data, definition, id, description) : data;
      const content = schema && {
        content: { 'application/json': { schema }, ...(csv && { 'text/csv': { schema: z.string() } }) },
      };
      const files = row && {
        content: {
          'text/csv': { schema: z.string() },
          'application/jsonl': { schema: row },
        },
      };
      const headers = headersOf(definition, Number(status), endpoints);
      return [
        status,
        { description, ...headers, ...content, ...files, ...linksOf(definition, Number(status), endpoints) },
      ];
    }),
  );
}

const idempotencyHeader = z.object({
  'Idempotency-Key': z.optional(z.string().min(1).max(255)).meta({
    description: 'A text of your own. A request with a key that was used before is refused with 409, and not repeated',
    examples: ['order-1042-confirmation'],
  }),
});

function requestBodyOf(definition: Endpoint) {
  const { multipart, operationId, method, body } = definition;
  const id = `${capitalized(operationId)}Request`;
  if (multipart) {
    const { texts } = multipart;
    const schema = z
      .object({
        [multipart.field]: z.string().meta({ format: 'binary' }),
        ...(texts && {
          [texts.field]: z
            .array(z.string())
            .optional()
            .meta({ description: texts.description, examples: [texts.examples] }),
        }),
      })
      .meta({ id, description: 'A form' });
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } };
  }
  if (!body) return {};
  const schema = named(definition.documentedBody ?? body, id, `The body of ${operationId}`);
  // A POST with no required field works without a body; a PATCH without a body would change nothing.
  const required = method !== 'post' || !body.safeParse({}).success;
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

function operationOf(definition: Endpoint, endpoints: readonly Endpoint[]): ZodOpenApiOperationObject {
  const roles = rolesOf(definition);
  return {
    operationId: definition.operationId,
    tags: [definition.tag],
    summary: definition.summary,
    description: `${definition.description ?? `${definition.summary}.`}\n\nRoles: ${roles.join(', ')}.`,
    'x-roles': roles,
    security: [keyKindOf(definition) === 'public' ? { publicKey: [] } : { secretKey: [] }],
    requestParams: {
      ...(definition.params instanceof z.ZodObject && { path: definition.params }),
      ...(definition.query instanceof z.ZodObject && { query: definition.query }),
      ...(definition.isIdempotent && { header: idempotencyHeader }),
    },
    ...requestBodyOf(definition),
    responses: { ...replyResponses(definition, endpoints), ...errorResponses(definition, endpoints) },
  };
}

const DESCRIPTION = `Transactional sending, event tracking, contacts, templates, segments, campaigns and automations.

Every request carries a key of the project: the secret key (\`sk_…\`), or for \`POST /v1/track\` the public key (\`pk_…\`). A
project may make 1000 requests a minute unless the operator says otherwise; the \`RateLimit-*\` headers tell how many are
left. Answers with status 429 and 503 say in \`Retry-After\` when to try again.`;

/**
 * Creates the OpenAPI 3.1 document from the declarations of the endpoints.
 * @param examples requests and answers to show with the operations
 */
export function createOpenApiDocument(endpoints: Endpoint[], publicUrl: string, examples?: ApiExamples) {
  const paths: ZodOpenApiPathsObject = {};
  for (const definition of endpoints) {
    const path = pathOf(definition);
    paths[path] = { ...paths[path], [definition.method]: operationOf(definition, endpoints) };
  }
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Everpost API',
      version: '1.0.0',
      description: DESCRIPTION,
      contact: { name: 'The operator of this instance', url: publicUrl },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl, description: 'This instance' }],
    tags: TAGS.filter(({ name }) => endpoints.some(({ tag }) => tag === name)),
    externalDocs: { url: `${publicUrl}/docs`, description: 'This reference for people' },
    components: {
      headers: HEADERS,
      schemas: STEP_CONFIG_COMPONENTS,
      securitySchemes: {
        secretKey: { type: 'http', scheme: 'bearer', description: 'The secret key, sk_…' },
        publicKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The public key, pk_…, for POST /v1/track. A secret key is refused there unless the operator allows it',
        },
      },
    },
    paths,
    webhooks: { stepWebhook, webhookEvent },
  });
  const refined = refineSchemas(document);
  return examples ? addExamples(refined, examples) : refined;
}
