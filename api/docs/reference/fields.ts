import { isNode, type Node } from '../../reference/document-node.ts';

/** How deep the fields of a table go, and how many a table has at most. */
const DEPTH_MAX = 4;
const FIELDS_MAX = 120;
/** Longer examples of a value are left out; requests and answers show them. */
const EXAMPLE_LENGTH_MAX = 40;

/** A text of the document inside a cell of a Markdown table. */
export function cell(text: unknown): string {
  return (typeof text === 'string' ? text : '')
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim();
}

/** A value as inline code inside a cell. */
export function code(value: unknown): string {
  const text = cell(typeof value === 'string' ? value : JSON.stringify(value));
  const fence = text.includes('`') ? '``' : '`';
  return text === '' ? '' : `${fence}${fence.length > 1 ? ` ${text} ` : text}${fence}`;
}

const capital = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
const nodesOf = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** Reads schemas of an OpenAPI document, whose components refer to one another. */
export class Schemas {
  readonly #components: Node;

  constructor(document: Node) {
    const { schemas } = isNode(document['components']) ? document['components'] : {};
    this.#components = isNode(schemas) ? schemas : {};
  }

  /** The schema that a reference names. */
  resolve(schema: unknown): Node {
    if (!isNode(schema)) return {};
    const { $ref: reference, ...own } = schema;
    if (typeof reference !== 'string') return schema;
    return { ...this.resolve(this.#components[reference.replace('#/components/schemas/', '')]), ...own };
  }

  /** The schemas of which one holds; the schema itself where there is no choice. */
  branches(schema: unknown): Node[] {
    const resolved = this.resolve(schema);
    const branches = [...nodesOf(resolved['anyOf']), ...nodesOf(resolved['oneOf'])];
    return branches.length === 0 ? [resolved] : branches.flatMap((branch) => this.branches(branch));
  }

  /** The type in words: `text or null`, `list of numbers`. */
  type(schema: unknown): string {
    const branches = this.branches(schema);
    const single = branches.filter(({ type }) => type !== 'array');
    const names = [...new Set(single.map((branch) => this.#typeOf(branch)))].join(' or ');
    const lists = branches
      .filter(({ type }) => type === 'array')
      .map(({ items }) => (this.type(items) === names ? ', or a list of them' : `list of ${this.type(items)}`));
    return [names, ...lists]
      .filter((name) => name !== '')
      .join(' or ')
      .replace(' or ,', ',');
  }

  #typeOf(branch: Node): string {
    const { type, format } = branch;
    if (branch['const'] !== undefined) return code(branch['const']);
    if (typeof type !== 'string') return 'any';
    return typeof format === 'string' ? `${type} (${format})` : type;
  }

  /** What holds for a value: its limits, its possible values, its default and an example. */
  limits(schema: Node): string {
    const branches = this.branches(schema);
    const parts = branches.flatMap((branch) => [
      rangeOf(branch, 'minLength', 'maxLength', ' characters'),
      rangeOf(branch, 'minItems', 'maxItems', ' items'),
      rangeOf(branch, 'minimum', 'maximum', ''),
      branch['pattern'] === String.raw`^[^\r\n]*$` ? 'one line' : '',
      Array.isArray(branch['enum']) ? `one of ${branch['enum'].map(code).join(', ')}` : '',
    ]);
    const { default: standard, deprecated } = this.resolve(schema);
    if (standard !== undefined) parts.push(`default ${code(standard)}`);
    if (deprecated === true) parts.unshift('deprecated');
    const [example] = Array.isArray(schema['examples']) ? (schema['examples'] as unknown[]) : [];
    const hasValues = branches.some((branch) => branch['enum'] !== undefined || branch['const'] !== undefined);
    const shown = typeof example === 'object' || example === undefined || hasValues ? '' : code(example);
    if (shown !== '' && shown.length <= EXAMPLE_LENGTH_MAX) parts.push(`such as ${shown}`);
    const text = [...new Set(parts.filter((part) => part !== ''))].join('; ');
    return text === '' ? '' : `${capital(text)}.`;
  }

  /** Rows of a Markdown table: a field, its type, and what it means; fields of objects come below them. */
  rows(schema: unknown, place = '', depth = 0): string[] {
    const rows = this.branches(schema).flatMap((branch) => {
      if (branch['type'] === 'array') return this.rows(branch['items'], `${place}[]`, depth);
      const required = Array.isArray(branch['required']) ? branch['required'] : [];
      const properties = isNode(branch['properties']) ? Object.entries(branch['properties']) : [];
      return properties.flatMap(([name, property]) => {
        const path = place === '' ? name : `${place}.${name}`;
        const isResult = name === 'data' && 'success' in Object.fromEntries(properties);
        const own = { ...(isNode(property) && property), ...(isResult && { description: 'The result' }) };
        const inner = depth < DEPTH_MAX ? this.rows(own, path, depth + 1) : [];
        return [this.row(path, own, required.includes(name)), ...inner];
      });
    });
    // What may be one or a list of them has the same fields twice.
    const first = new Map(rows.toReversed().map((row) => [row.replaceAll('[]', ''), row]));
    return rows.filter((row) => first.get(row.replaceAll('[]', '')) === row).slice(0, FIELDS_MAX);
  }

  row(name: string, schema: Node, isRequired: boolean, about = schema['description']): string {
    const sentence = capital(cell(about).replace(/[^.!?…]$/, '$&.'));
    const kind = `${cell(this.type(schema))}${isRequired ? ', *required*' : ''}`;
    return `| ${code(name)} | ${kind} | ${[sentence, cell(this.limits(schema))].filter(Boolean).join(' ')} |`;
  }
}

function rangeOf(schema: Node, low: string, high: string, unit: string): string {
  const [min, max] = [schema[low], schema[high]].map((value) => (typeof value === 'number' ? value : undefined));
  // Zod gives every integer the limits of what JavaScript counts exactly.
  const [from, to] = [min, max].map((value) =>
    Math.abs(value ?? Infinity) < Number.MAX_SAFE_INTEGER ? value : undefined,
  );
  const [least, most] = [from, to].map((value) => value?.toLocaleString('en'));
  if (from !== undefined && to !== undefined) return `${least} to ${most}${unit}`;
  if (to !== undefined) return `at most ${most}${unit}`;
  return from === undefined || (from === 1 && unit !== '') ? '' : `at least ${least}${unit}`;
}
