import fc from 'fast-check';
import { writeJson } from './hostile-values.ts';
import type { JsonSchema, OpenApiDocument, Operation, Parameter } from './json-schema.ts';
import { createValues } from './values.ts';

/** A request whose ids are still placeholders. */
export interface FuzzRequest {
  path: string;
  query: [name: string, value: string][];
  headers: Record<string, string>;
  /** Undefined for none. */
  body: string | undefined;
}

type Values = ReturnType<typeof createValues>;

/** Encodes a part of a URL. Ids and bytes that are already encoded stay as they are. */
function encodePart(text: string): string {
  if (/^(?:\$id\(\w+,\d+\)|%[0-9A-F]{2}.*)$/s.test(text)) return text;
  return encodeURIComponent(text.toWellFormed().slice(0, 2_000));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const brokenOctets = fc.constantFrom('%00', '%ED%A0%80', '%FF%FE', '%', '%2e%2e%2f', '%25', '%20');

function parameterTexts(values: Values, { schema, name }: Parameter): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: values.valid(schema, name).map(textOf) },
    { weight: 2, arbitrary: values.almostValid(schema, name).map(textOf) },
    { weight: 2, arbitrary: values.hostileText },
    brokenOctets,
  );
}

function paths(values: Values, template: string, parameters: Parameter[]): fc.Arbitrary<string> {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const parts = inPath.map((parameter) => {
    const isName = parameter.schema.format === undefined;
    const names = fc.constantFrom('signed_up', 'plan', 'names', 'track', 'usage', 'contact', 'data.plan');
    const texts = parameterTexts(values, parameter);
    // These parts would lead to another path.
    return (isName ? fc.oneof(names, texts) : texts).map((text) => (['', '.', '..'].includes(text) ? 'x' : text));
  });
  return fc
    .tuple(...parts)
    .map((texts) =>
      inPath.reduce((path, { name }, n) => path.replace(`{${name}}`, encodePart(texts[n] ?? '')), template),
    );
}

function queries(values: Values, parameters: Parameter[]): fc.Arbitrary<[string, string][]> {
  const declared = parameters
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => fc.tuple(fc.constant(parameter.name), parameterTexts(values, parameter)));
  const unknown = fc.tuple(fc.constantFrom('__proto__', 'limit[]', 'a.b', 'constructor', ''), values.hostileText);
  return fc
    .array(fc.oneof(...declared.map((arbitrary) => ({ weight: 9, arbitrary })), unknown), { maxLength: 4 })
    .map((list) => list.map(([name, text]): [string, string] => [encodePart(name), encodePart(text)]));
}

const extraHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 10, arbitrary: fc.constant({}) },
  fc.constantFrom<Record<string, string>>(
    ...['k', 'k', 'k'.repeat(255), 'k'.repeat(256), '', ' ', '\u00e9'].map((key) => ({ 'idempotency-key': key })),
    ...['x'.repeat(200), '\u00ff', 'a'].map((id) => ({ 'x-request-id': id })),
    ...[
      'text/plain',
      'application/json; charset=latin1',
      'application/JSON',
      'multipart/form-data',
      '',
      '\u00e9/x',
    ].map((type) => ({ 'content-type': type })),
    ...['gzip', 'br', 'identity', 'none', 'gzip, gzip'].map((coding) => ({ 'content-encoding': coding })),
    ...['', 'Bearer', 'Bearer sk_x', 'Basic YTpi', `Bearer sk_${'0'.repeat(64)}`].map((authorization) => ({
      authorization,
    })),
    { accept: 'text/html', 'accept-encoding': 'gzip;q=0', range: 'bytes=0-1', 'if-none-match': '*' },
  ),
);

const brokenJson = fc.constantFrom(
  '',
  '{',
  '[1,]',
  '{"a":1}}',
  '\ufeff{}',
  '\0',
  'nul',
  '"',
  '{"a":\ud83d}',
  'null',
  '[]',
  '0',
);

function bodies(values: Values, schema: JsonSchema): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: values.valid(schema).map(writeJson) },
    { weight: 6, arbitrary: values.almostValid(schema).map(writeJson) },
    { weight: 6, arbitrary: values.hostile(schema).map(writeJson) },
    brokenJson,
  );
}

const FORM_TYPE = 'multipart/form-data; boundary=x';

/** Forms with a file, as for imports. */
const forms = fc
  .tuple(
    fc.constantFrom('file', 'file', 'other', ''),
    fc.oneof(fc.string(), fc.constant('email,plan\na@example.com,pro\n')),
  )
  .chain(([name, content]) => {
    const head = `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a.csv"\r\n\r\n`;
    return fc.constantFrom(`${head}${content}\r\n--x--\r\n`, `${head}${content}`, '--x\r\n', content, '--x--');
  });

/** Requests to an endpoint: valid, almost valid, and hostile ones. */
export function requestsTo(document: OpenApiDocument, path: string, operation: Operation): fc.Arbitrary<FuzzRequest> {
  const values = createValues(document, path.split('/')[1] ?? '');
  const { parameters = [], requestBody } = operation;
  const json = requestBody?.content['application/json'];
  const body: fc.Arbitrary<string | undefined> = json
    ? bodies(values, json.schema)
    : requestBody
      ? forms
      : fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, brokenJson);
  const type = json || !requestBody ? 'application/json' : FORM_TYPE;
  return fc.record({
    path: paths(values, path, parameters),
    query: fc.oneof(fc.constant<[string, string][]>([]), { weight: 3, arbitrary: queries(values, parameters) }),
    headers: extraHeaders.map((headers) => ({ 'content-type': type, ...headers })),
    body,
  });
}
