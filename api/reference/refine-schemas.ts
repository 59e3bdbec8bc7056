import { isNode, type Node } from './document-node.ts';
import { PROPERTY_TEXTS } from './property-texts.ts';

/** Formats that need no pattern beside them: the patterns are long, and some refuse values that the API answers. */
const FORMATS = new Set(['uuid', 'date-time', 'date', 'email']);
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

function refine(value: unknown, component: string): void {
  if (Array.isArray(value)) for (const item of value) refine(item, component);
  if (!isNode(value)) return;
  simplify(value);
  if (isNode(value['properties'])) describeProperties(value['properties'], component);
  if (typeof value['in'] === 'string' && value['name'] !== undefined) describeParameter(value);
  for (const [key, inner] of Object.entries(value))
    if (key !== 'examples' && key !== 'example') refine(inner, component);
}

/** Gives input and output of a schema one name: `FilterConditionOutput` becomes `FilterCondition`. */
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

/** Makes the OpenAPI document easy to read for people and generators: adds descriptions and removes repetition. */
export function refineSchemas<Document extends object>(document: Document): Document {
  const root = document as Node;
  const components = isNode(root['components']) ? root['components'] : {};
  const schemas = isNode(components['schemas']) ? components['schemas'] : {};
  mergeOutputs(root, schemas);
  for (const [id, schema] of Object.entries(schemas)) refine(schema, id);
  for (const part of ['paths', 'webhooks']) refine(root[part], '');
  return document;
}
