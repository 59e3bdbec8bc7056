import { readFileSync } from 'node:fs';
import { isNode, type Node } from '../../reference/document-node.ts';
import type { Callable } from '../code/dialects.ts';

/** An operation of the API, as its page and the links to it need it. */
export interface Operation extends Callable {
  id: string;
  method: string;
  /** With placeholders: `/contacts/{id}`. */
  path: string;
  group: string;
  /** Its part of the OpenAPI document. */
  node: Node;
  /** Whether this server calls it at a server of the user. */
  isWebhook: boolean;
}

const CLIENT_METHODS = JSON.parse(
  readFileSync(new URL('../../reference/client-methods.json', import.meta.url), 'utf8'),
) as Record<string, string>;

export const nodesIn = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
export const entriesOf = (value: unknown): [string, Node][] =>
  isNode(value) ? Object.entries(value).filter((entry): entry is [string, Node] => isNode(entry[1])) : [];

/** The content of a request or an answer; without a media type, JSON. */
export function contentOf(part: unknown): { type: string; schema: unknown; examples: [string, Node][] } | undefined {
  const [entry] = isNode(part) ? entriesOf(part['content']) : [];
  return entry && { type: entry[0], schema: entry[1]['schema'], examples: entriesOf(entry[1]['examples']) };
}

/** Whether a part of the document has the envelope: a component whose `success` is always true. */
function hasEnvelope(schemas: unknown, response: unknown): boolean {
  const schema = contentOf(response)?.schema;
  const reference = isNode(schema) && typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
  const component = isNode(schemas) && reference !== undefined ? schemas[reference] : schema;
  const properties = isNode(component) && isNode(component['properties']) ? component['properties'] : {};
  return 'success' in properties && 'data' in properties;
}

/** The answers that say that something was done. */
export const successesOf = (node: Node): [string, Node][] =>
  entriesOf(node['responses']).filter(([status]) => status.startsWith('2'));

function operationOf(document: Node, path: string, method: string, node: Node, isWebhook: boolean): Operation {
  const { schemas } = isNode(document['components']) ? document['components'] : {};
  const successes = successesOf(node).map(([, response]) => response);
  const isText = ({ schema }: Node) => isNode(schema) && schema['type'] === 'string';
  const name = `${method.toUpperCase()} ${path}`;
  return {
    id: String(node['operationId']),
    method: method.toUpperCase(),
    path,
    name,
    node,
    isWebhook,
    group: Array.isArray(node['tags']) ? String(node['tags'][0]) : '',
    hasEnvelope: successes.some((response) => hasEnvelope(schemas, response)),
    hasAnswer: successes.some((response) => contentOf(response) !== undefined),
    plainParameters: new Set(
      nodesIn(node['parameters'])
        .filter((parameter) => parameter['in'] === 'query' && !isText(parameter))
        .map((parameter) => String(parameter['name'])),
    ),
    clientMethod: CLIENT_METHODS[name] ?? '',
  };
}

/** The operations of an OpenAPI document, in its order, and last what it calls itself. */
export function readOperations(document: Node): Operation[] {
  return (['paths', 'webhooks'] as const).flatMap((part) =>
    entriesOf(document[part]).flatMap(([path, item]) =>
      entriesOf(item).map(([method, node]) => operationOf(document, path, method, node, part === 'webhooks')),
    ),
  );
}

/** A part of a path as it is meant. */
function decode(text: string): string {
  return /%[0-9a-f]{2}/i.test(text) ? (new URLSearchParams(`a=${text.replaceAll('+', '%2B')}`).get('a') ?? text) : text;
}

/** What stands in a path for a value: `{id}`, `:id`, `<id>`, `…` or `$ID`. */
const PLACEHOLDER = /^(?:\{\w+\}|:\w+|<[^>]*>|…|\$\w+)$/;

/**
 * Creates a function that finds the operation of a method and a path, with values or placeholders in it. Where several
 * fit, the one with the fewest placeholders is meant.
 */
export function createFinder(
  operations: readonly Operation[],
): (method: string, path: string) => { operation: Operation; params: Record<string, string> } | undefined {
  const known = operations.map((operation) => ({ operation, segments: operation.path.split('/') }));
  const placeholders = (segments: string[]) => segments.filter((segment) => segment.startsWith('{')).length;
  known.sort((left, right) => placeholders(left.segments) - placeholders(right.segments));
  return (method, path) => {
    const given = path.split(/[?#]/)[0]?.split('/') ?? [];
    const fits = (template: string, value: string) => (template.startsWith('{') ? value !== '' : template === value);
    const isPlain = (template: string, value: string) => !PLACEHOLDER.test(value) || template.startsWith('{');
    const found = known.find(
      ({ operation, segments }) =>
        operation.method === method &&
        segments.length === given.length &&
        segments.every(
          (template, index) => fits(template, given[index] ?? '') && isPlain(template, given[index] ?? ''),
        ),
    );
    if (!found) return undefined;
    const params = found.segments.flatMap((template, index): [string, string][] =>
      template.startsWith('{') ? [[template.slice(1, -1), decode(given[index] ?? '')]] : [],
    );
    return { operation: found.operation, params: Object.fromEntries(params) };
  };
}
