import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

/** The response header that names keys of a body that its endpoint does not know. */
export const IGNORED_FIELDS_HEADER = 'Everpost-Ignored-Fields';

const IGNORED_FIELDS_MAX = 20;
const SHOWN_FIELD = /^[\w.-]{1,64}$/;

/** The schema that reads a body; of several forms, the one that fits. */
function objectSchemaOf(schema: unknown, body: unknown): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodPipe) return objectSchemaOf(schema.in, body) ?? objectSchemaOf(schema.out, body);
  if (!(schema instanceof z.ZodUnion)) return undefined;
  const form = schema.options.find((option) => z.safeParse(option, body).success);
  return objectSchemaOf(form, body);
}

/** Whether the keys of the endpoint's bodies are looked at. */
export function hasIgnoredFields({ body, multipart }: Endpoint): boolean {
  return body !== undefined && !multipart;
}

/** The first keys of a body that its endpoint does not know, as far as they can stand in a header. */
export function ignoredFields(definition: Endpoint, body: unknown): string[] {
  if (!hasIgnoredFields(definition) || typeof body !== 'object' || body === null) return [];
  const schema = objectSchemaOf(definition.body, body);
  if (!schema) return [];
  const { shape } = schema;
  const unknown = Object.keys(body).filter((key) => !Object.hasOwn(shape, key) && SHOWN_FIELD.test(key));
  return unknown.slice(0, IGNORED_FIELDS_MAX);
}
