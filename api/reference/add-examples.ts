import { isNode, type Node } from './document-node.ts';
import type { ApiExample, ApiExamples } from './examples.ts';

const nodesOf = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** Whether a schema refers to a component, whose properties have examples of their own. */
function hasComponent(schema: Node): boolean {
  const inner = [...nodesOf(schema['anyOf']), ...nodesOf(schema['oneOf'])];
  if (isNode(schema['items'])) inner.push(schema['items']);
  return schema['$ref'] !== undefined || inner.some(hasComponent);
}

/** Gives the properties of components examples: the values that they have in requests and answers. */
class PropertyExamples {
  readonly #schemas: Node;

  constructor(schemas: Node) {
    this.#schemas = schemas;
  }

  /** Takes the examples of properties from a value. @param schema the schema of the value */
  take(schema: unknown, value: unknown): void {
    if (!isNode(schema)) return;
    if (typeof schema['$ref'] === 'string') this.take(this.#componentOf(schema['$ref']), value);
    for (const branch of [...nodesOf(schema['anyOf']), ...nodesOf(schema['oneOf'])]) {
      if (this.#mayHold(branch, value)) this.take(branch, value);
    }
    if (Array.isArray(value)) for (const item of value) this.take(schema['items'], item);
    else if (isNode(value) && isNode(schema['properties'])) this.#takeProperties(schema['properties'], value);
  }

  #takeProperties(properties: Node, value: Node): void {
    for (const [name, property] of Object.entries(properties)) {
      if (!isNode(property) || !Object.hasOwn(value, name)) continue;
      if (hasComponent(property)) this.take(property, value[name]);
      else if (property['examples'] === undefined) property['examples'] = [value[name]];
      // A value says more than null.
      else if (JSON.stringify(property['examples']) === '[null]') property['examples'] = [value[name]];
    }
  }

  /** Gives a property without a value the example of one with the same name and type in another component. */
  spread(): void {
    const properties = Object.values(this.#schemas).flatMap((schema) =>
      isNode(schema) && isNode(schema['properties']) ? Object.entries(schema['properties']) : [],
    );
    const shown = new Map<string, unknown>();
    const keyOf = (name: string, { type, format, enum: values }: Node): string =>
      JSON.stringify([name, type, format, values]);
    for (const [name, property] of properties) {
      if (isNode(property) && property['examples'] !== undefined)
        shown.set(keyOf(name, property), property['examples']);
    }
    for (const [name, property] of properties) {
      if (!isNode(property) || hasComponent(property) || property['examples'] !== undefined) continue;
      if (property['const'] !== undefined) continue;
      const examples = shown.get(keyOf(name, property));
      if (examples !== undefined) property['examples'] = examples;
    }
  }

  #componentOf(reference: string): unknown {
    return this.#schemas[reference.replace('#/components/schemas/', '')];
  }

  /** Whether a value fits a branch of a union: it has the required properties, and its constants are the same. */
  #mayHold(branch: Node, value: unknown): boolean {
    if (typeof branch['$ref'] === 'string') {
      const component = this.#componentOf(branch['$ref']);
      return isNode(component) && this.#mayHold(component, value);
    }
    if (Array.isArray(value)) return branch['type'] === 'array';
    if (!isNode(value)) return false;
    const { required = [], properties = {} } = branch;
    if (!isNode(properties) || !Array.isArray(required)) return false;
    const isConstant = ([name, property]: [string, unknown]) =>
      !isNode(property) || property['const'] === undefined || property['const'] === value[name];
    return required.every((name) => Object.hasOwn(value, String(name))) && Object.entries(properties).every(isConstant);
  }
}

/** Puts examples into the content of a request or an answer. @returns the content; undefined when there is none */
function addToContent(part: unknown, type: string, found: { name: string; value: unknown }[]): Node | undefined {
  const contents = isNode(part) && isNode(part['content']) ? part['content'] : {};
  const content = contents[type];
  if (!isNode(content) || found.length === 0) return undefined;
  content['examples'] = Object.fromEntries(found.map(({ name, value }) => [name, { value }]));
  return content;
}

function addToParameters(operation: Node, examples: readonly ApiExample[]): void {
  for (const parameter of nodesOf(operation['parameters'])) {
    const { name, schema } = parameter;
    const value = examples.map(({ params, query }) => ({ ...params, ...query })[String(name)]).find(Boolean);
    if (value === undefined) continue;
    const isText = !isNode(schema) || !['integer', 'number', 'boolean'].includes(String(schema['type']));
    parameter['example'] = isText ? value : (JSON.parse(value) as unknown);
  }
}

/** Puts the examples of an operation into it, and takes those of properties from them. */
function addToOperation(operation: Node, examples: readonly ApiExample[], properties: PropertyExamples): void {
  addToParameters(operation, examples);
  const responses = isNode(operation['responses']) ? operation['responses'] : {};
  const requests = examples.flatMap(({ name, request }) => (request === undefined ? [] : [{ name, value: request }]));
  const shown = ['application/json', 'multipart/form-data'].map((type) => ({
    content: addToContent(operation['requestBody'], type, requests),
    values: requests,
  }));
  for (const status of new Set(examples.map((example) => example.status))) {
    const ofStatus = examples.filter((example) => example.status === status);
    const answers = ofStatus.flatMap(({ name, answer }) => (answer === undefined ? [] : [{ name, value: answer }]));
    const tables = ofStatus.flatMap(({ name, table }) => (table === undefined ? [] : [{ name, value: table }]));
    const response = responses[String(status)];
    shown.push({ content: addToContent(response, 'application/json', answers), values: answers });
    addToContent(response, 'text/csv', tables);
    const rows = ofStatus.flatMap(({ name, row }) => (row === undefined ? [] : [{ name, value: row }]));
    shown.push({ content: addToContent(response, 'application/jsonl', rows), values: rows });
  }
  for (const { content, values } of shown) for (const { value } of values) properties.take(content?.['schema'], value);
}

/**
 * Puts examples into the OpenAPI document: whole requests and answers, values of parameters, and a value for each
 * property of the components that has none.
 */
export function addExamples<Document extends object>(document: Document, examples: ApiExamples): Document {
  const { paths, webhooks, components = {} } = document as Node & { components?: { schemas?: Node } };
  const properties = new PropertyExamples(components.schemas ?? {});
  const operations = [paths, webhooks].flatMap((items) =>
    (isNode(items) ? Object.values(items) : []).flatMap((item) => (isNode(item) ? Object.values(item) : [])),
  );
  for (const operation of operations.filter(isNode)) {
    addToOperation(operation, examples[String(operation['operationId'])] ?? [], properties);
  }
  properties.spread();
  return document;
}
