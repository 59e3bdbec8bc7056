import type { Response } from 'express';
import { z } from 'zod';
import type { PublicKeyRules } from '../../shared/pure/public-key-rules.ts';
import type { Endpoint } from './endpoint.ts';
import { model } from '../../shared/pure/model.ts';

/** The response header with the fields of a request that its endpoint does not know. */
export const IGNORED_FIELDS_HEADER = 'Everpost-Ignored-Fields';

export const ignoredFieldSchema = model('IgnoredField', 'A field of the request that had no effect', {
  field: z.string().describe('its path, such as `attachments.0.name`'),
  message: z.string(),
});

/** Says in the body of an answer that a field was ignored. */
export function ignoredFieldWarning(field: string): z.infer<typeof ignoredFieldSchema> {
  return { field, message: `${field} does not exist here and had no effect` };
}

const IGNORED_FIELDS_MAX = 20;
const SHOWN_FIELD = /^[\w.-]{1,64}$/;
/** After this many objects and arrays, the rest of a body is not searched. */
const PARTS_MAX = 2_000;
const DEPTH_MAX = 20;

/** The schema within wrappers such as `optional()`. */
function unwrapped(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrapped(schema.unwrap());
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return unwrapped(schema.unwrap());
  if (schema instanceof z.ZodReadonly) return unwrapped(schema.unwrap());
  if (!(schema instanceof z.ZodPipe)) return schema;
  const input = unwrapped(schema.in);
  return input instanceof z.ZodTransform ? unwrapped(schema.out) : input;
}

/** The schema of an object or an array; of several forms, the one that fits the value. */
function formOf(schema: unknown, value: object): unknown {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodUnion)) return inner;
  const kind = Array.isArray(value) ? z.ZodArray : z.ZodObject;
  const forms = inner.options.filter((option) => [z.ZodUnion, kind].some((each) => unwrapped(option) instanceof each));
  return formOf(forms.length > 1 ? forms.find((form) => z.safeParse(form, value).success) : forms[0], value);
}

/** Collects the paths of keys that a schema does not know and that may be written into a header. */
class IgnoredKeys {
  readonly paths: string[] = [];
  #parts = 0;

  search(schema: unknown, value: unknown, path: string, depth = 0): void {
    if (typeof value !== 'object' || value === null || depth > DEPTH_MAX || ++this.#parts > PARTS_MAX) return;
    const form = formOf(schema, value);
    if (Array.isArray(value)) {
      if (!(form instanceof z.ZodArray)) return;
      for (const [index, item] of value.entries()) this.search(form.element, item, `${path}${index}.`, depth + 1);
    } else if (form instanceof z.ZodObject && form.def.catchall === undefined) {
      // A schema that takes any key, such as that of custom data, ignores none.
      this.#searchKeys(form, value, path, depth);
    } else if (form instanceof z.ZodRecord && Object.hasOwn(value, '__proto__')) this.paths.push(`${path}__proto__`);
  }

  #searchKeys({ shape }: z.ZodObject, value: object, path: string, depth: number): void {
    for (const key of Object.keys(value)) {
      if (this.paths.length >= IGNORED_FIELDS_MAX) return;
      if (Object.hasOwn(shape, key)) this.search(shape[key], Reflect.get(value, key), `${path}${key}.`, depth + 1);
      else if (SHOWN_FIELD.test(key)) this.paths.push(path + key);
    }
  }
}

const NO_FIELDS = z.object({});

/** The fields of a body that the project's rules for its public key rule out. */
function ruledOutFields({ ruledOut }: Endpoint, rules: PublicKeyRules | null, body: unknown): string[] {
  if (!rules || !ruledOut || typeof body !== 'object' || body === null) return [];
  return ruledOut(rules, body).filter((path) => SHOWN_FIELD.test(path));
}

/** The first keys of a part of a request that its schema does not know, by their paths, which begin with `path`. */
export function ignoredKeys(schema: z.ZodType, value: unknown, path: string): string[] {
  const keys = new IgnoredKeys();
  keys.search(schema, value, path);
  return keys.paths;
}

/** Names the fields in the header of an answer, as many as it may have. */
export function setIgnoredFields(res: Response, fields: readonly string[]): void {
  if (fields.length === 0) return;
  res.setHeader(IGNORED_FIELDS_HEADER, fields.slice(0, IGNORED_FIELDS_MAX).join(', '));
}

/**
 * The first fields of a request that have no effect: those that the rules of its key rule out, and those that its
 * endpoint does not know, which are keys of the body by their paths, such as
 * `attachments.0.name`, and parameters of the query, such as `query.limit`.
 */
export function ignoredFields(
  definition: Endpoint,
  request: { body: unknown; query: object; rules: PublicKeyRules | null },
): string[] {
  const { body, documentedBody = body, query, multipart } = definition;
  const keys = new IgnoredKeys();
  if (!multipart) keys.search(documentedBody ?? NO_FIELDS, request.body, '');
  keys.search(query ?? NO_FIELDS, request.query, 'query.');
  return [...keys.paths, ...ruledOutFields(definition, request.rules, request.body)].slice(0, IGNORED_FIELDS_MAX);
}
