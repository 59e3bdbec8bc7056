import fc from 'fast-check';
import { hostileValue, hostileText } from './hostile-values.ts';
import { resolve, type JsonSchema, type OpenApiDocument } from './json-schema.ts';

type Values = fc.Arbitrary<unknown>;

const DEPTH_MAX = 4;
const TEXT_LENGTH_MAX = 60;
const ITEMS_MAX = 3;

/** The kind of id that each field takes. An `id` in a path belongs to the first part of the path. */
const KIND_OF_FIELD: Record<string, string> = {
  template: 'templates',
  templateId: 'templates',
  segmentId: 'segments',
  contactId: 'contacts',
  contactIds: 'contacts',
  projectId: 'users',
  stepId: 'steps',
  fromStepId: 'steps',
  toStepId: 'steps',
  transitionId: 'transitions',
  executionId: 'executions',
  jobId: 'jobs',
};

/** Texts that have a meaning at some endpoint. */
const TEXTS = [
  'email',
  'subscribed',
  'createdAt',
  'data.plan',
  'plan',
  'signed_up',
  'email.open',
  'segment.x',
  '{{name}}',
  '{{a ?? "b"}}',
  '{{#if a}}b{{/if}}',
  '{{#each a}}',
  '{{',
  'CONTACT',
  'fr\u00e4nk \u{1f600}',
];

/** A placeholder for the id of an existing record, which `withIds` fills in. */
export function idOf(kind: string): fc.Arbitrary<string> {
  return fc.nat({ max: 40 }).map((n) => `$id(${kind},${n})`);
}

/** Fills in the placeholders for ids. */
export function withIds(text: string, pick: (kind: string, n: number) => string): string {
  return text.replaceAll(/\$id\((\w+),(\d+)\)/g, (_, kind: string, n: string) => pick(kind, Number(n)));
}

function uuids(field: string, owner: string): Values {
  const kind = KIND_OF_FIELD[field] ?? owner;
  return fc.oneof({ weight: 8, arbitrary: idOf(kind) }, fc.uuid(), idOf('foreign'), idOf('segments'));
}

const emails = fc.oneof(
  fc.nat({ max: 5 }).map((n) => `fuzz${n}@example.com`),
  fc.constantFrom('Ada@Example.com ', 'a#b@example.com', 'j\u00f6rg@m\u00fcnchen.example', 'a+b@mail.example.co.uk'),
  fc.stringMatching(/^[a-z0-9._+-]{1,20}$/).map((local) => `${local}@example.com`),
);

const instants = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2060-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

function texts(schema: JsonSchema, field: string, owner: string): Values {
  if (schema.format === 'uuid') return uuids(field, owner);
  if (schema.format === 'email') return emails;
  if (schema.format === 'date-time') return instants;
  const { minLength = 0, maxLength = Infinity } = schema;
  const pattern = new RegExp(schema.pattern ?? '');
  const known = TEXTS.filter((text) => text.length >= minLength && text.length <= maxLength && pattern.test(text));
  const some = known.length === 0 ? [] : [fc.constantFrom(...known)];
  if (schema.pattern !== undefined) {
    // fast-check makes no texts for what a pattern looks ahead for.
    const parts = new RegExp(schema.pattern.replaceAll(/\(\?[=!][^()]*\)/g, ''));
    const drawn = fc.stringMatching(parts, { maxLength: Math.min(maxLength, TEXT_LENGTH_MAX) });
    return fc.oneof(
      ...some,
      drawn.filter((text) => pattern.test(text)),
    );
  }
  const plain = fc.string({ minLength, maxLength: Math.min(maxLength, Math.max(minLength, TEXT_LENGTH_MAX)) });
  return fc.oneof(plain, ...some, instants, idOf(owner));
}

function numbers({ type, minimum = -1e6, maximum = 1e6 }: JsonSchema): Values {
  const max = Math.min(maximum, 1e6);
  return type === 'integer'
    ? fc.integer({ min: Math.ceil(minimum), max: Math.max(Math.floor(max), Math.ceil(minimum)) })
    : fc.double({ min: minimum, max, noNaN: true });
}

function objects(schema: JsonSchema, depth: number, valueOf: (schema: JsonSchema, field: string) => Values): Values {
  const properties = Object.entries(schema.properties ?? {});
  const isDeep = depth > DEPTH_MAX;
  const shown = properties.filter(([name]) => !isDeep || schema.required?.includes(name));
  const named = fc.record(Object.fromEntries(shown.map(([name, inner]) => [name, valueOf(inner, name)])), {
    requiredKeys: schema.required ?? [],
  });
  if (typeof schema.additionalProperties !== 'object') return named;
  const keys = fc.oneof(fc.constantFrom('plan', 'name', 'X-Tag'), fc.stringMatching(/^[\w.-]{1,20}$/));
  return fc.dictionary(keys, valueOf(schema.additionalProperties, ''), { maxKeys: ITEMS_MAX });
}

/** Values that break one rule of the schema. */
function faults(schema: JsonSchema): Values[] {
  const { minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems } = schema;
  return [
    ...(minLength > 0 ? [fc.constant('')] : []),
    ...(maxLength === undefined ? [] : [fc.constant('x'.repeat(maxLength + 1)), fc.constant(' '.repeat(maxLength))]),
    ...(minimum === undefined ? [] : [fc.constant(minimum - 1)]),
    ...(maximum === undefined ? [] : [fc.constant(maximum + 1)]),
    ...(minItems > 0 ? [fc.constant([])] : []),
    ...(maxItems === undefined ? [] : [fc.constant(Array(maxItems + 1).fill('x'))]),
    ...(schema.pattern === undefined && schema.format === undefined && !schema.enum ? [] : [fc.string()]),
    fc.constantFrom<unknown>(null, true, 0, -1.5, '', 'text', [], {}, ['text'], { text: 'text' }),
  ];
}

/** Generates values for the schemas of an endpoint. `owner` is the kind of record of the endpoint. */
export function createValues(document: OpenApiDocument, owner: string) {
  function valid(given: JsonSchema, field = '', depth = 0): Values {
    const schema = resolve(document, given);
    const next = (inner: JsonSchema, name = field) => valid(inner, name, depth + 1);
    const members = schema.anyOf ?? schema.oneOf;
    if (members) return fc.oneof(...members.map((member) => next(member)));
    if ('const' in schema) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case 'string':
        return texts(schema, field, owner);
      case 'integer':
      case 'number':
        return numbers(schema);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array': {
        const { items = {}, minItems: minLength = 0, maxItems = ITEMS_MAX } = schema;
        return fc.array(next(items), { minLength, maxLength: Math.max(minLength, Math.min(maxItems, ITEMS_MAX)) });
      }
      case 'object':
        return objects(schema, depth, next);
      default:
        return fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...TEXTS), fc.integer(), idOf(owner));
    }
  }

  /** A valid value in which one part, at any depth, comes from `wrongs`. */
  function withOne(given: JsonSchema, wrongs: (schema: JsonSchema) => Values, field = '', depth = 0): Values {
    const schema = resolve(document, given);
    const here = wrongs(schema);
    if (depth > DEPTH_MAX) return here;
    const next = (inner: JsonSchema, name = field) => withOne(inner, wrongs, name, depth + 1);
    const members = schema.anyOf ?? schema.oneOf;
    if (members) return fc.oneof(here, ...members.map((member) => next(member)));
    if (schema.type === 'array' && schema.items) {
      return fc.oneof(here, fc.tuple(valid(schema.items, field), next(schema.items)));
    }
    const names = Object.keys(schema.properties ?? {});
    if (names.length === 0) return here;
    const inner = fc.constantFrom(...names).chain((name) => {
      const broken = next(schema.properties?.[name] ?? {}, name);
      return fc
        .tuple(valid(schema, field, depth), broken)
        .map(([whole, part]) => ({ ...(whole as object), [name]: part }));
    });
    const lacking = fc
      .tuple(valid(schema, field, depth), fc.constantFrom(...names))
      .map(([whole, name]) => Object.fromEntries(Object.entries(whole as object).filter(([key]) => key !== name)));
    return fc.oneof({ weight: 6, arbitrary: inner }, lacking, here);
  }

  return {
    valid: (schema: JsonSchema, field?: string) => valid(schema, field),
    almostValid: (schema: JsonSchema, field?: string) => withOne(schema, (inner) => fc.oneof(...faults(inner)), field),
    hostile: (schema: JsonSchema, field?: string) => withOne(schema, () => hostileValue, field),
    hostileText,
  };
}
