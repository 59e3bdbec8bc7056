import { PROPERTY_TEXTS } from './property-texts.ts';

/** A part of the document. */
type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/** These formats are enough; the patterns next to them are long, and some refuse what the API answers. */
const FORMATS = new Set(['uuid', 'date-time', 'date', 'email', 'idn-email']);
const OUTPUT = 'Output';

/** Removes repetition: the pattern next to a format, and the range that every integer has. */
function simplify(schema: Node): void {
  if (typeof schema['format'] === 'string' && FORMATS.has(schema['format'])) delete schema['pattern'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
}

function describeProperties(properties: Node, component: string): void {
  for (const [name, property] of Object.entries(properties)) {
    if (!isNode(property) || property['description'] !== undefined) continue;
    const text = PROPERTY_TEXTS[`${component}.${name}`] ?? PROPERTY_TEXTS[name];
    if (text !== undefined) property['description'] = text;
  }
}

function describeParameter(parameter: Node): void {
  const schema = isNode(parameter['schema']) ? parameter['schema'] : {};
  parameter['description'] ??= schema['description'] ?? PROPERTY_TEXTS[String(parameter['name'])];
  delete schema['description'];
}

function walk(value: unknown, component: string): void {
  if (Array.isArray(value)) for (const item of value) walk(item, component);
  if (!isNode(value)) return;
  simplify(value);
  if (isNode(value['properties'])) describeProperties(value['properties'], component);
  if (typeof value['in'] === 'string' && value['name'] !== undefined) describeParameter(value);
  for (const [key, inner] of Object.entries(value)) if (key !== 'examples' && key !== 'example') walk(inner, component);
}

/** Input and output of a schema share one name: `FilterConditionOutput` is `FilterCondition` to callers. */
function mergeOutputs(document: Node, schemas: Node): void {
  const twins = Object.keys(schemas).filter((id) => id.endsWith(OUTPUT) && schemas[id.slice(0, -OUTPUT.length)]);
  const names = new Map(twins.map((id) => [`#/components/schemas/${id}`, id.slice(0, -OUTPUT.length)]));
  for (const id of twins) Reflect.deleteProperty(schemas, id);
  const rename = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) rename(item);
    if (!isNode(value)) return;
    const name = names.get(String(value['$ref']));
    if (name !== undefined) value['$ref'] = `#/components/schemas/${name}`;
    for (const inner of Object.values(value)) rename(inner);
  };
  rename(document);
}

/** Makes the document easy to read for people and generators: names, descriptions, and no repetition. */
export function refineSchemas<Document extends object>(document: Document): Document {
  const root = document as Node;
  const components = isNode(root['components']) ? root['components'] : {};
  const schemas = isNode(components['schemas']) ? components['schemas'] : {};
  mergeOutputs(root, schemas);
  for (const [id, schema] of Object.entries(schemas)) walk(schema, id);
  for (const part of ['paths', 'webhooks']) walk(root[part], '');
  return document;
}
