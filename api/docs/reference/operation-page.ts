import { ERROR_CATALOGUE } from '../../../shared/pure/error-catalogue.ts';
import type { ApiExample } from '../../reference/examples.ts';
import { cell, code, type Schemas } from './fields.ts';
import { contentOf, entriesOf, nodesIn, successesOf, type Operation } from './operations.ts';

const EXAMPLES_MAX = 4;

/** A block of code in Markdown, whose fence is longer than any inside. */
function block(language: string, text: string): string {
  const fences = text.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(Math.max(3, ...fences.map(({ length }) => length + 1)));
  return `${fence}${language}\n${text}\n${fence}\n`;
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A recorded request as a command to paste. */
export function curlOf({ method, path, node }: Operation, example: ApiExample): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(example.params[key] ?? key));
  const query = new URLSearchParams(example.query).toString();
  const key = JSON.stringify(node['security']).includes('publicKey') ? 'PUBLIC_KEY' : 'SECRET_KEY';
  const isForm = contentOf(node['requestBody'])?.type === 'multipart/form-data';
  const hasBody = example.request !== undefined;
  const lines = [
    `curl -sS ${method === (hasBody ? 'POST' : 'GET') ? '' : `-X ${method} `}"$EVERPOST_URL${filled}${query && `?${query}`}"`,
    `-H "Authorization: Bearer $${key}"`,
  ];
  if (hasBody)
    lines.push(isForm ? '-F file=@contacts.csv' : `--json ${quote(JSON.stringify(example.request, null, 2))}`);
  return lines.join(' \\\n  ');
}

function table(head: string, rows: readonly string[]): string {
  const columns = head.split('|').length;
  return rows.length === 0 ? '' : `| ${head} |\n|${'---|'.repeat(columns)}\n${rows.join('\n')}\n`;
}

const FIELDS = 'field | type | about';

function requestOf(schemas: Schemas, { node }: Operation): string {
  const parameters = nodesIn(node['parameters']).map((parameter) => {
    const schema = schemas.resolve(parameter['schema']);
    const about = `${cell(parameter['description'])} (${String(parameter['in'])})`;
    return schemas.row(String(parameter['name']), schema, parameter['required'] === true, about);
  });
  const content = contentOf(node['requestBody']);
  const body = schemas.resolve(content?.schema);
  const variants = entriesOf(schemas.resolve(body['discriminator']))[0]?.[1] ?? {};
  const tables = Object.entries(variants).map(
    ([name, reference]) => `### ${name}\n\n${table(FIELDS, schemas.rows({ $ref: reference }))}`,
  );
  const parts = [
    parameters.length > 0 ? `## Parameters\n\n${table(FIELDS, parameters)}` : '',
    content ? `## Body\n\n${content.type === 'application/json' ? '' : 'A form.\n\n'}` : '',
    content && tables.length === 0 ? table(FIELDS, schemas.rows(body)) : tables.join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** The recorded requests that were carried out and differ, as code and answers: the first one, and the others. */
function examplesOf(operation: Operation, examples: readonly ApiExample[]): string[] {
  const done = new Map(
    examples
      .filter(({ status }) => status < 300)
      .toReversed()
      .map((example) => [curlOf(operation, example), example]),
  );
  return [...done]
    .toReversed()
    .slice(0, EXAMPLES_MAX)
    .map(([curl, { table: csv, row, answer = row, status }]) => {
      const text = csv ?? (answer === undefined ? '' : JSON.stringify(answer, null, 2));
      const words = `Answer, status ${status}${text === '' ? ', without content' : ''}:`;
      return `${block('bash', curl)}\n${words}\n\n${text === '' ? '' : block(csv === undefined ? 'json' : 'csv', text)}`;
    });
}

function answersOf(schemas: Schemas, { node }: Operation): string {
  return successesOf(node)
    .map(([status, response]) => {
      const rows = schemas.rows(contentOf(response)?.schema);
      return `## Answer ${status}\n\n${cell(response['description'])}.\n\n${table(FIELDS, rows)}`;
    })
    .join('\n');
}

function errorsOf({ node }: Operation): string {
  const rows = entriesOf(node['responses'])
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) =>
      String(response['description'])
        .split(/; (?=[A-Z_]+: )/)
        .map((text) => {
          const [, name = '', about = text] = /^([A-Z_]+): ([^]*)$/.exec(text) ?? [];
          return `| ${status} | ${name in ERROR_CATALOGUE ? `[${name}](../errors/${name}.md)` : name} | ${cell(about)} |`;
        }),
    );
  return rows.length === 0 ? '' : `## Errors\n\n${table('status | code | when', rows)}`;
}

/** Who may call it, and how the client does. */
function accessOf({ node, isWebhook, clientMethod }: Operation): string {
  if (isWebhook) return '';
  const own = clientMethod.split(' ')[0];
  const client = own ? ` In the [TypeScript client](../typescript.md): \`everpost.${own}()\`.` : '';
  if (JSON.stringify(node['security']).includes('publicKey')) return `It takes the public key, \`pk_…\`.${client}\n`;
  const roles = Array.isArray(node['x-roles']) ? node['x-roles'].map(code).join(', ') : '';
  return `It takes a secret key, \`sk_…\`, with one of the [roles](../keys.md) ${roles}.${client}\n`;
}

/**
 * The page of an operation as Markdown.
 * @param mentions the pages that mention it: their titles and files
 */
export function operationPage(
  operation: Operation,
  schemas: Schemas,
  examples: readonly ApiExample[],
  mentions: readonly { title: string; file: string }[],
): string {
  const { node, name, isWebhook } = operation;
  const about = String(node['description']).replace(/\n*Roles: [\w, ]+\.$/, '');
  const [example, ...others] = isWebhook ? [] : examplesOf(operation, examples);
  const parts = [
    `# ${cell(node['summary'])}\n`,
    isWebhook ? '' : `\`${name}\`\n`,
    about.replace(/\.$/, '') === node['summary'] ? '' : `${about}\n`,
    accessOf(operation),
    example === undefined ? '' : `## Example\n\n${example}`,
    requestOf(schemas, operation),
    answersOf(schemas, operation),
    errorsOf(operation),
    others.length === 0 ? '' : `## More examples\n\n${others.join('\n')}`,
    mentions.length === 0
      ? ''
      : `## Pages about it\n\n${mentions.map(({ title, file }) => `- [${title}](../${file})`).join('\n')}\n`,
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** The page with the list of all operations. */
export function referenceHome(
  operations: readonly Operation[],
  groups: readonly { name: string; description: string }[],
): string {
  const sections = groups.map(({ name, description }) => {
    const rows = operations
      .filter(({ group }) => group === name)
      .map(
        ({ id, name: call, node, isWebhook }) =>
          `| ${isWebhook ? 'to your server' : code(call)} | [${cell(node['summary'])}](reference/${id}.md) |`,
      );
    return `## ${name}\n\n${description}\n\n${table('call | what it does', rows)}`;
  });
  return `# API reference

Every request carries a key: \`Authorization: Bearer sk_…\`. Bodies and answers are JSON. [Errors](errors/README.md) have
one form, [limits](limits.md) are the same everywhere. For generators there is the document \`/openapi.json\` (OpenAPI 3.1).

${sections.join('\n')}`;
}
