import { z } from 'zod';
import type { JsonSchema, OpenApiDocument, Operation } from './json-schema.ts';

export interface FuzzAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** From the first octet sent to the last one received. */
  durationMs: number;
}

/** Says what is wrong with an answer; undefined when it is as declared. */
export type Judge = (answer: FuzzAnswer) => string | undefined;

const ERROR_LENGTH_MAX = 16 * 1024;

const parseSchema = (text: string): JsonSchema =>
  JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as JsonSchema;

/** The zod schemas of a document by their JSON. Most operations declare the same errors. */
interface KnownSchemas {
  $defs: JsonSchema;
  byJson: Map<string, z.ZodType>;
}
const knownOf = new WeakMap<OpenApiDocument, KnownSchemas>();

function knownSchemas(document: OpenApiDocument): KnownSchemas {
  const known = knownOf.get(document) ?? {
    $defs: parseSchema(JSON.stringify(document.components.schemas)),
    byJson: new Map<string, z.ZodType>(),
  };
  knownOf.set(document, known);
  return known;
}

/** A zod schema of a part of the document, with its references. */
export function standalone(document: OpenApiDocument, schema: JsonSchema): z.ZodType {
  const { $defs, byJson } = knownSchemas(document);
  const text = JSON.stringify(schema);
  const known = byJson.get(text) ?? z.fromJSONSchema({ ...parseSchema(text), $defs } as never);
  byJson.set(text, known);
  return known;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The content type of an answer without its parameters. */
export const contentTypeOf = ({ headers }: Pick<FuzzAnswer, 'headers'>): string | undefined =>
  headers.get('content-type')?.split(';')[0];

function faultOfBody(schema: z.ZodType | undefined, answer: FuzzAnswer): string | undefined {
  const { status, text } = answer;
  if (!schema) return text === '' ? undefined : `there is a body: ${text}`;
  if (contentTypeOf(answer) !== 'application/json') return 'the content type is not JSON';
  if (status >= 400 && text.length > ERROR_LENGTH_MAX) return `the error has ${text.length} characters`;
  const result = schema.safeParse(parse(text));
  if (result.success) return undefined;
  return `${JSON.stringify(result.error.issues).slice(0, 2_000)} in ${text.slice(0, 1_000)}`;
}

/** Judges answers of an operation by its declaration in the OpenAPI document. */
export function judgeOf(document: OpenApiDocument, operation: Operation): Judge {
  const schemas = new Map(
    Object.entries(operation.responses).map(([status, { content }]) => {
      const json = content?.['application/json'];
      return [Number(status), json && standalone(document, json.schema)] as const;
    }),
  );
  return (answer) => {
    const { status, headers, text } = answer;
    if (status >= 500) return `the status is ${status}: ${text}`;
    if (!schemas.has(status)) return `the status ${status} is not declared: ${text}`;
    if (!headers.has('x-request-id')) return 'there is no X-Request-ID';
    const type = contentTypeOf(answer) ?? '';
    if (type !== 'application/json' && type in (operation.responses[status]?.content ?? {})) return undefined;
    return faultOfBody(schemas.get(status), answer);
  };
}
