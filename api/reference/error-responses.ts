import { z } from 'zod';
import { ERROR_CATALOGUE, type ErrorCode } from '../../shared/pure/error-catalogue.ts';
import { KEY_ROLES } from '../../shared/pure/key-roles.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { headersOf } from './response-headers.ts';
import { model } from '../../shared/pure/model.ts';

export const fieldErrorSchema = model('FieldError', 'One fault of one field', {
  field: z.string().meta({ description: 'The path of the field, with dots', examples: ['attachments.0.filename'] }),
  message: z.string().meta({ description: 'What is wrong with it', examples: ['Invalid email address'] }),
  code: z.string().meta({ description: 'The kind of fault', examples: ['invalid_type', 'reserved_event'] }),
  received: z.unknown().optional().describe('The value, when it is short and plain'),
});

/** The name of the schemas for each status. */
const NAMES: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Validation',
  429: 'RateLimit',
  431: 'HeadersTooLarge',
  500: 'Internal',
  503: 'Unavailable',
};

const refusalSchema = z
  .looseObject({
    role: z.enum(KEY_ROLES).optional().describe('The role of the key'),
    roles: z
      .array(z.enum(KEY_ROLES))
      .optional()
      .meta({ description: 'The roles that would do', examples: [['full', 'marketing']] }),
    reason: z
      .enum(['DOMAIN_NOT_REGISTERED', 'DOMAIN_NOT_VERIFIED'])
      .optional()
      .describe('Why the sender domain is refused'),
    domain: z.optional(z.string()).meta({ description: 'The sender domain', examples: ['mail.example.com'] }),
  })
  .meta({ id: 'SenderRefusal', description: 'Given when a sender domain or the role of a key is refused' });

const anyDetails = z
  .record(z.string(), z.unknown())
  .meta({ description: 'More about it, for programs', examples: [{ field: 'status' }] });

type Entry = (typeof ERROR_CATALOGUE)[ErrorCode] & { wireCode?: string };

const entryOf = (code: ErrorCode): Entry => ERROR_CATALOGUE[code];
/** The code as callers receive it. */
const wireCodeOf = (code: ErrorCode): string => entryOf(code).wireCode ?? code;

function createErrorSchema(status: number): z.ZodType {
  const name = NAMES[status] ?? `Status${status}`;
  const codes = (Object.keys(ERROR_CATALOGUE) as ErrorCode[])
    .filter((code) => entryOf(code).status === status)
    .map(wireCodeOf);
  const messages = Object.values<{ status: number; message: string }>(ERROR_CATALOGUE)
    .filter((entry) => entry.status === status)
    .map(({ message }) => message);
  const error = z.object({
    code: z.enum(codes).describe('What is wrong, for programs'),
    message: z.string().meta({ description: 'What is wrong, for people', examples: messages }),
    statusCode: z.literal(status).describe('The HTTP status'),
    requestId: z.string().describe('The same as in the header X-Request-ID'),
    errors: z.array(fieldErrorSchema).optional().describe('The faulty fields'),
    details: (status === 403 ? refusalSchema : anyDetails).optional(),
    suggestion: z.optional(z.string()).meta({ description: 'What to do about it', examples: ['Check the key'] }),
  });
  return model(`${name}Response`, `The answer with status ${status}`, {
    success: z.literal(false).describe('Always false'),
    error: error.meta({ id: `${name}Error`, description: 'What is wrong' }),
    timestamp: z.iso.datetime().describe('When it was answered'),
  });
}

const statuses = new Set(Object.values(ERROR_CATALOGUE).map(({ status }) => status));
const ERROR_SCHEMAS = new Map([...statuses].map((status) => [status as number, createErrorSchema(status)]));

const flatErrorSchema = model(
  'FlatError',
  'A required field is missing. It has no `success`, which every other error has.',
  {
    error: z.string().meta({ description: 'Which required field is missing', examples: ['Email is required'] }),
  },
);

/**
 * The errors of every endpoint. Even one without parameters answers 400 to a URL that cannot be decoded, and 422 to
 * text that cannot be stored.
 */
const COMMON_ERRORS: ErrorCode[] = [
  'BAD_REQUEST',
  'INVALID_API_KEY',
  'PROJECT_DISABLED',
  'ROLE_REFUSED',
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
  if (definition.isIdempotent) codes.add('IDEMPOTENCY_KEY_REUSED');
  if (definition.params && definition.malformedIdCode) codes.add(definition.malformedIdCode);
  return [...codes];
}

function descriptionOf(status: number, codes: ErrorCode[], definition: Endpoint): string {
  const lines = codes.map((code) => `${wireCodeOf(code)}: ${entryOf(code).message}`);
  if (status === 403 && codes.includes('SENDER_DOMAIN_REFUSED')) lines.push('`details.reason` says why');
  if (status === 400 && definition.flatRequirements) {
    const sentences = definition.flatRequirements.map(({ message }) => `"${message}"`).join(', ');
    lines.push(`in the flat form without a code: ${sentences}`);
  }
  return lines.join('; ');
}

/** The errors that an endpoint can answer, by status. */
export function errorResponses(definition: Endpoint, endpoints: readonly Endpoint[]) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(definition)) {
    const { status } = entryOf(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const own = ERROR_SCHEMAS.get(status);
      const schema = status === 400 && definition.flatRequirements && own ? z.union([own, flatErrorSchema]) : own;
      return [
        String(status),
        {
          description: descriptionOf(status, codes, definition),
          ...headersOf(definition, status, endpoints),
          content: { 'application/json': { ...(schema && { schema }) } },
        },
      ];
    }),
  );
}
