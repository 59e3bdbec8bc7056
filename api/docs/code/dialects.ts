import { literal, PYTHON, textLiteral, TYPESCRIPT, type Style } from './literals.ts';
import { markOf, type ShellRequest } from './shell.ts';

/** An operation of the API, as far as code that calls it depends on it. */
export interface Callable {
  /** `GET /contacts/{id}` */
  name: string;
  hasEnvelope: boolean;
  hasAnswer: boolean;
  /** The query parameters that are no texts. */
  plainParameters: ReadonlySet<string>;
  /** The method of the TypeScript client and its inputs, such as `contacts.list LIST query`. */
  clientMethod: string;
}

/** A request to an operation. */
export interface Call {
  operation: Callable;
  /** The values of the placeholders of the path. */
  params: Record<string, string>;
  request: ShellRequest;
  /** Whether later lines use the answer. */
  isUsed: boolean;
}

/** How a language calls the API. */
export interface Dialect {
  style: Style;
  /** What comes once before the first call of a page. */
  head: (hasPublicKey: boolean, hasFile: boolean) => string;
  /** A variable of the environment. */
  environment: (name: string) => string;
  declare: (name: string, value: string) => string;
  print: (value: string) => string;
  /** The call, and whether its value is the record alone, without the envelope of the answer. */
  call: (call: Call) => { text: string; isUnwrapped: boolean };
  /** A line that makes the call and shows its answer. */
  show: (text: string, call: Call) => string;
  /** A part of an answer. */
  pick: (answer: string, parts: readonly (string | number)[]) => string;
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** The query, with numbers and booleans as such. */
function typedQuery({ request: { query }, operation: { plainParameters } }: Call): Record<string, unknown> {
  const typed = ([name, value]: [string, string]): [string, unknown] =>
    plainParameters.has(name) && /^(?:true|false|\d+)$/.test(value) ? [name, JSON.parse(value)] : [name, value];
  return Object.fromEntries(Object.entries(query).map(typed));
}

/** The call by `request`, which every endpoint has. */
function genericCall(call: Call, options: object): string {
  const [verb = '', path = ''] = call.operation.name.split(' ');
  const all = {
    ...(!isEmpty(call.params) && { params: call.params }),
    ...(!isEmpty(call.request.query) && { query: typedQuery(call) }),
    ...(call.request.json !== undefined && { body: call.request.json }),
    ...options,
  };
  const argument = isEmpty(all) ? '' : `, ${literal(all, TYPESCRIPT)}`;
  return `everpost.request("${verb}", "${path}"${argument})`;
}

function clientCall(call: Call): { text: string; isUnwrapped: boolean } {
  const { operation, params, request, isUsed } = call;
  const [method = '', ...inputs] = operation.clientMethod.split(' ');
  const { 'Idempotency-Key': idempotencyKey } = request.headers;
  const options = idempotencyKey === undefined ? {} : { idempotencyKey };
  const hasQuery = !isEmpty(request.query);
  if ((inputs.includes('LIST') && isUsed) || (hasQuery && !inputs.includes('query'))) {
    return { text: genericCall(call, options), isUnwrapped: false };
  }
  const values: Record<string, () => string> = {
    file: () => `readFileSync(${JSON.stringify(request.file)}, "utf8")`,
    email: () => literal((request.json as { email?: unknown }).email, TYPESCRIPT),
    body: () => literal(request.json ?? {}, TYPESCRIPT),
    query: () => literal(typedQuery(call), TYPESCRIPT),
  };
  const given = inputs.filter((input) => input in values && (input !== 'query' || hasQuery));
  const args = [
    ...Object.values(params).map((value) => textLiteral(value, TYPESCRIPT)),
    ...given.map((input) => values[input]?.() ?? ''),
    ...(isEmpty(options) ? [] : [literal(options, TYPESCRIPT)]),
  ];
  return { text: `everpost.${method}(${args.join(', ')})`, isUnwrapped: operation.hasEnvelope };
}

export const typescript: Dialect = {
  style: TYPESCRIPT,
  head: (hasPublicKey, hasFile) => {
    const publicKey = hasPublicKey ? '  publicKey: process.env.PUBLIC_KEY!,\n' : '';
    const file = hasFile ? 'import { readFileSync } from "node:fs";\n' : '';
    return `${file}import { Everpost } from "everpost";

const everpost = new Everpost({
  url: process.env.EVERPOST_URL!,
  secretKey: process.env.SECRET_KEY!,
${publicKey}});
`;
  },
  environment: (name) => `process.env.${name}!`,
  declare: (name, value) => `const ${name} = ${value};`,
  print: (value) => `console.log(${value});`,
  call: (call) => {
    const { text, isUnwrapped } = clientCall(call);
    const isWalked = call.operation.clientMethod.includes(' LIST') && !text.startsWith('everpost.request(');
    return { text: isWalked ? text : `await ${text}`, isUnwrapped };
  },
  show: (text, { operation }) => {
    if (!text.startsWith('await ')) return `for await (const item of ${text}) console.log(item);`;
    return operation.hasAnswer ? `console.log(${text});` : `${text};`;
  },
  pick: (answer, parts) => answer + parts.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join(''),
};

const AUTHORIZATION = (key: string): string => `{"Authorization": f"Bearer {os.environ['${key}']}"}`;

export const python: Dialect = {
  style: PYTHON,
  head: () => `import os
import requests

url = os.environ["EVERPOST_URL"]
headers = ${AUTHORIZATION('SECRET_KEY')}
`,
  environment: (name) => `os.environ["${name}"]`,
  declare: (name, value) => `${name} = ${value}`,
  print: (value) => `print(${value})`,
  call({ request: { method, path, query, headers, key, json, file } }) {
    const base = key === 'SECRET_KEY' ? 'headers' : AUTHORIZATION(key);
    const own = literal(headers, PYTHON).slice(1, -1);
    const options = [
      `headers=${isEmpty(headers) ? base : `{**${base}, ${own}}`}`,
      ...(isEmpty(query) ? [] : [`params=${literal(query, PYTHON)}`]),
      ...(json === undefined ? [] : [`json=${literal(json, PYTHON)}`]),
      ...(file === undefined ? [] : [`files={"file": open(${JSON.stringify(file)}, "rb")}`]),
    ];
    const address = textLiteral(`${markOf('url')}${path}`, PYTHON);
    return { text: `requests.${method.toLowerCase()}(${address}, ${options.join(', ')})`, isUnwrapped: false };
  },
  show: (text, { operation }) => (operation.hasAnswer ? `print(${text}.json())` : text),
  pick: (answer, parts) =>
    `${answer}.json()${parts.map((part) => (typeof part === 'number' ? `[${part}]` : `["${part}"]`)).join('')}`,
};
