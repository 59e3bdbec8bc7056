import { execFile, spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../../../shared/platform/paths.ts';
import { readExamples } from '../../../tests/support/docs-examples.ts';
import { openApiNode } from '../../../tests/support/docs-site.ts';
import { readApiExamples } from '../../reference/examples.ts';
import { listFiles } from '../pages/catalogue.ts';
import { curlOf } from '../reference/operation-page.ts';
import { createFinder, readOperations } from '../reference/operations.ts';
import { createTranslator } from './translate.ts';

const operations = readOperations(openApiNode()).filter(({ isWebhook }) => !isWebhook);
const examples = readApiExamples();
const find = createFinder(operations);
const run = promisify(execFile);

interface Received {
  call: string;
  key: string;
  idempotencyKey?: string | undefined;
  body: unknown;
}

/** Requests by language and block, as a server has received them. */
const received = new Map<string, Received[]>();
let server: Server;
let folder: string;
let blocks: string[];

/** What the server answers: an example of the operation, as a last page. */
function answerOf(method: string, address: string): unknown {
  const { operation } = find(method, address) ?? {};
  const answer = examples[operation?.id ?? '']?.find((each) => each.answer !== undefined)?.answer;
  return typeof answer === 'object' && answer !== null && !Array.isArray(answer)
    ? { ...answer, ...('hasMore' in answer && { hasMore: false }), ...('totalPages' in answer && { totalPages: 1 }) }
    : answer;
}

function startServer(): Promise<Server> {
  const listening = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.once('end', () => {
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://a');
      const [, place = '', address = ''] = /^\/(\w+\/\d+)(\/.*)$/.exec(pathname) ?? [];
      const text = Buffer.concat(chunks).toString();
      const isForm = req.headers['content-type']?.startsWith('multipart/') ?? false;
      searchParams.sort();
      const request = {
        call: `${req.method} ${decodeURIComponent(address)}?${searchParams.toString()}`,
        key: String(req.headers.authorization),
        idempotencyKey: req.headers['idempotency-key'] as string | undefined,
        body: isForm ? /name="file"/.test(text) && text.includes('email\nada') : text && (JSON.parse(text) as unknown),
      };
      received.set(place, [...(received.get(place) ?? []), request]);
      const answer = answerOf(String(req.method), decodeURI(address));
      res.writeHead(answer === undefined ? 204 : 200, { 'Content-Type': 'application/json' });
      res.end(answer === undefined ? undefined : JSON.stringify(answer));
    });
  });
  return new Promise((resolve) => listening.listen(0, '127.0.0.1', () => resolve(listening)));
}

/** The part of the Python package that examples use, without the package. */
const REQUESTS = `import json, urllib.parse, urllib.request
class Answer:
    def __init__(self, text): self.text = text
    def json(self): return json.loads(self.text)
def call(method, url, headers={}, params=None, json=None, files=None):
    import json as J
    if params: url += "?" + urllib.parse.urlencode(params)
    data, headers = None, dict(headers)
    if json is not None: data, headers["Content-Type"] = J.dumps(json).encode(), "application/json"
    if files:
        data = b'--x\\r\\nContent-Disposition: form-data; name="file"; filename="a"\\r\\n\\r\\n' + files["file"].read() + b'\\r\\n--x--\\r\\n'
        headers["Content-Type"] = "multipart/form-data; boundary=x"
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request) as answer: return Answer(answer.read().decode() or "null")
def get(url, **o): return call("GET", url, **o)
def post(url, **o): return call("POST", url, **o)
def put(url, **o): return call("PUT", url, **o)
def patch(url, **o): return call("PATCH", url, **o)
def delete(url, **o): return call("DELETE", url, **o)
`;

const translate = (code: string) => createTranslator(find, code.includes('$PUBLIC_KEY'))(code);

beforeAll(async () => {
  server = await startServer();
  const port = String((server.address() as AddressInfo).port);
  folder = await mkdtemp(path.join(tmpdir(), 'everpost-code-'));
  const pages = await Promise.all(listFiles().map((file) => readExamples(path.join('docs', file))));
  const recorded = operations.flatMap((operation) =>
    (examples[operation.id] ?? []).filter(({ status }) => status < 300).map((example) => curlOf(operation, example)),
  );
  blocks = [...pages.flat().map(({ code }) => code), ...recorded].filter((code) => translate(code) !== undefined);

  await mkdir(path.join(folder, 'node_modules'));
  await symlink(path.join(projectRoot, 'clients', 'typescript'), path.join(folder, 'node_modules', 'everpost'));
  const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
  await write('package.json', '{"type":"module"}');
  await write('contacts.csv', 'email\nada@example.com\n');
  await write('requests.py', REQUESTS);
  const jq = path.join(projectRoot, 'tests', 'support', 'jq-main.ts');
  const shell = [`jq() { '${process.execPath}' '${jq}' "$@"; }`];
  const names = new Set(blocks.join('\n').match(/(?<=\$\{?)[A-Z_]+/g));
  const variables = Object.fromEntries([...names].map((name) => [name, `value of ${name}`]));
  for (const [index, code] of blocks.entries()) {
    const { typescript = '', python = '' } = translate(code) ?? {};
    const set = Object.keys(variables).map((name) => `${name}="${name.toLowerCase()}-1"`);
    shell.push(
      `( ${set.join(' ')}; SECRET_KEY=sk_1; PUBLIC_KEY=pk_1; EVERPOST_URL=http://127.0.0.1:${port}/curl/${index}\n${code} ) > out`,
    );
    await write(`block-${index}.ts`, typescript);
    await write(`block-${index}.py`, python);
  }
  const values = Object.fromEntries(Object.keys(variables).map((name) => [name, `${name.toLowerCase()}-1`]));
  const env = { ...process.env, NODE_OPTIONS: '', ...values, SECRET_KEY: 'sk_1', PUBLIC_KEY: 'pk_1' };
  const options = { cwd: folder, env, maxBuffer: 1e9 };
  await write('all.sh', shell.join('\n'));
  await write(
    'all.ts',
    `for (let index = 0; index < ${blocks.length}; index += 1) {
  process.env.EVERPOST_URL = 'http://127.0.0.1:${port}/ts/' + index;
  await import('./block-' + index + '.ts');
}`,
  );
  await write(
    'all.py',
    `import os
for index in range(${blocks.length}):
    os.environ["EVERPOST_URL"] = f"http://127.0.0.1:${port}/python/{index}"
    exec(open(f"block-{index}.py").read(), {})
`,
  );
  const flags = ['--disable-warning=ExperimentalWarning', '--conditions=everpost-source'];
  await Promise.all([
    run('bash', ['-eo', 'pipefail', 'all.sh'], options),
    run(process.execPath, [...flags, 'all.ts'], options),
    ...(hasPython ? [run('python3', ['all.py'], options)] : []),
  ]);
}, 120_000);
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe('the examples of the docs', () => {
  it('are in three languages, for most guides and for every endpoint that answers JSON', async () => {
    const inGuides = blocks.filter((code) => !code.includes('sandbox'));
    expect(inGuides.length).toBeGreaterThan(60);
    // The client reads JSON; a file is shown with curl only.
    const shown = operations.flatMap((operation) => {
      const done = (examples[operation.id] ?? []).filter(
        ({ status, table, row }) => status < 300 && table === undefined && row === undefined,
      );
      return done.length === 0 ? [] : [{ id: operation.id, codes: done.map((example) => curlOf(operation, example)) }];
    });
    expect(shown.length).toBeGreaterThan(120);
    const without = shown.filter(({ codes }) => !codes.some((code) => translate(code)));
    expect(without.map(({ id }) => id)).toEqual([]);
    expect(await readFile(path.join(folder, 'block-0.ts'), 'utf8')).toContain('new Everpost(');
  });

  it.each(['ts', ...(hasPython ? ['python'] : [])])('make the same requests in %s as with curl', (language) => {
    for (const [index, code] of blocks.entries()) {
      const wanted = received.get(`curl/${index}`);
      const made = received.get(`${language}/${index}`)?.map((request, at) => {
        // The client makes a key of its own where the page gives none.
        return wanted?.[at]?.idempotencyKey === undefined ? { ...request, idempotencyKey: undefined } : request;
      });
      const withBody = (list: Received[] | undefined) => list?.map((each) => ({ ...each, body: each.body || {} }));
      expect([code, withBody(made)]).toEqual([code, withBody(wanted)]);
    }
  });
});

describe('a shell block', () => {
  const curl = (rest: string) => `curl -sS "$EVERPOST_URL/contacts" -H "Authorization: Bearer $SECRET_KEY" ${rest}`;

  it.each([
    ['another program', 'printf a > b'],
    ['a loop', `for a in b; do ${curl('')}; done`],
    ['a command inside', curl(`--json "$(cat a)"`)],
    ['an option that is not known', curl('--insecure')],
    ['a body that is not JSON', curl(`--json '{'`)],
    ['a value outside of texts', curl(`--json '{"a": '"$A"'}'`)],
    ['another key', `curl -sS "$EVERPOST_URL/contacts" -H "Authorization: Bearer $OTHER_KEY"`],
    ['another server', `curl -sS "https://example.com/contacts" -H "Authorization: Bearer $SECRET_KEY"`],
    ['another path', `curl -sS "$EVERPOST_URL/nothing" -H "Authorization: Bearer $SECRET_KEY"`],
    ['a filter of jq', `A=$(${curl('')} | jq -r '.data[] | .id')`],
    ['an open quote', curl(`--json '{}`)],
  ])('stays as it is with %s', (_what, code) => {
    expect(translate(code)).toBeUndefined();
  });

  it('keeps hostile texts inside of texts', () => {
    const body = JSON.stringify({
      email: '`${process.exit(1)}` {__import__} "\\ \u2028 $(id)',
      data: { "a'b": '$HOME' },
    });
    const { typescript, python } = translate(curl(`--json '${body.replaceAll("'", String.raw`'\''`)}'`)) ?? {};
    for (const text of [typescript, python]) expect(text).toContain(JSON.stringify(JSON.parse(body).email));
    const named = translate(curl(`--json "{\\"email\\": \\"\`x {y} \${A} \\"}"`));
    expect(named).toBeUndefined();
    const mixed = translate(curl(`--json '{"email": "{y} \${z} \`q\` '"$A"'"}'`));
    expect(mixed?.typescript).toContain('`{y} \\${z} \\`q\\` ${a}`');
    expect(mixed?.python).toContain('f"{{y}} ${{z}} `q` {a}"');
  });
});
