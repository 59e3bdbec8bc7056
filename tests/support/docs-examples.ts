import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Marked, type Tokens } from 'marked';
import { projectRoot } from '../../shared/platform/paths.ts';
import { createOpenApiDocument } from '../../api/reference/openapi.ts';
import { createEndpoints } from '../../api/routes.ts';
import { testConfig } from './config.ts';
import { eventually } from './eventually.ts';
import { standalone } from './fuzz/judge.ts';
import type { OpenApiDocument } from './fuzz/json-schema.ts';
import type { TestProject } from './api.ts';

/** A code block of a page, and the answer that the page shows after it. */
export interface DocsExample {
  language: string;
  /** The words after the language, such as `partial`. */
  words: string[];
  code: string;
  answer?: { language: string; words: string[]; text: string };
}

export interface PageRun {
  run: (example: DocsExample) => Promise<void>;
  close: () => Promise<void>;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ANSWERS = ['json', 'text'];
/** The word after `json` when a block is not an answer: a filter of a segment, or an event that a webhook receives. */
const OWN_EXAMPLES = ['filter', 'event'];
const ANSWER_MS_MAX = 15_000;
const BLOCK_MS_MAX = 30_000;

/** The examples of a page of `docs/`, in their order. */
export async function readExamples(file: string): Promise<DocsExample[]> {
  const text = await readFile(path.join(projectRoot, 'docs', file), 'utf8');
  const examples: DocsExample[] = [];
  let previous: DocsExample | undefined;
  for (const token of new Marked().lexer(text)) {
    if (token.type !== 'code') continue;
    const { lang = '', text: code } = token as Tokens.Code;
    const [language = '', ...words] = lang.split(' ');
    if (ANSWERS.includes(language) && previous && !previous.answer && !OWN_EXAMPLES.includes(words[0] ?? '')) {
      previous.answer = { language, words, text: code };
      continue;
    }
    previous = { language, words, code };
    examples.push(previous);
  }
  return examples;
}

/** The ids of this run, by the ids that the page shows. */
type Ids = Map<string, string>;

/** The first difference between an answer and the page; undefined when there is none. */
function differenceOf(shown: unknown, actual: unknown, ids: Ids, isPartial: boolean, place = '$'): string | undefined {
  const fault = `${place}: the page shows ${JSON.stringify(shown)}, the answer is ${JSON.stringify(actual)}`;
  if (typeof shown === 'string' && typeof actual === 'string') return isLike(shown, actual, ids) ? undefined : fault;
  if (typeof shown !== 'object' || shown === null) return Object.is(shown, actual) ? undefined : fault;
  if (typeof actual !== 'object' || actual === null || Array.isArray(shown) !== Array.isArray(actual)) return fault;
  const keys = new Set([...Object.keys(shown), ...(isPartial || Array.isArray(shown) ? [] : Object.keys(actual))]);
  if (Array.isArray(shown) && shown.length === 0 && (actual as unknown[]).length > 0) return fault;
  for (const key of keys) {
    const inner = `${place}.${key}`;
    const difference = differenceOf(Reflect.get(shown, key), Reflect.get(actual, key), ids, isPartial, inner);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** Whether a text is as the page shows it. Ids and times may differ, and `…` stands for any ending. */
function isLike(shown: string, actual: string, ids: Ids): boolean {
  if (MOMENT.test(shown) && MOMENT.test(actual)) return true;
  const shownIds = shown.match(UUID) ?? [];
  const actualIds = actual.match(UUID) ?? [];
  if (shownIds.length !== actualIds.length) return false;
  for (const [index, id] of shownIds.entries()) {
    const own = actualIds[index] ?? '';
    if ((ids.get(id) ?? own) !== own) return false;
    ids.set(id, own);
  }
  const [start = '', rest] = shown.replaceAll(UUID, (id) => ids.get(id) ?? id).split('…');
  return rest === undefined ? start === actual : actual.startsWith(start);
}

function isError(output: string): boolean {
  return /^\s*\{"(success":false|error":)/.test(output);
}

function check({ answer, code }: DocsExample, output: string, ids: Ids): void {
  if (!answer) {
    if (isError(output)) throw new Error(`${code}\nanswered ${output}`);
    return;
  }
  const fault =
    answer.language === 'json'
      ? differenceOf(JSON.parse(answer.text), parse(output), ids, answer.words.includes('partial'))
      : isLike(answer.text.trim(), output.trim(), ids)
        ? undefined
        : `the page shows ${answer.text}`;
  if (fault !== undefined) throw new Error(`${fault}\nafter ${code}\nwhole answer: ${output}`);
}

/** Checks that an event has the form that the OpenAPI document gives for webhooks. */
function checkEvent(code: string): void {
  const document = createOpenApiDocument(createEndpoints(testConfig()), 'https://everpost.test');
  const schema = { $ref: '#/components/schemas/WebhookEvent' };
  const { error } = standalone(document as unknown as OpenApiDocument, schema).safeParse(parse(code));
  if (error) throw new Error(`${code}\nis no event: ${error.message}`);
}

function parse(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    throw new Error(`not JSON: ${output}`);
  }
}

/** Runs the examples of one page with a project of its own. Later examples see the records of earlier ones. */
export async function startPage(url: string, { keys, api }: TestProject): Promise<PageRun> {
  const folder = await mkdtemp(path.join(tmpdir(), 'everpost-docs-'));
  await writeFile(path.join(folder, 'package.json'), '{"type": "module"}');
  // The link replaces an installed client. An export condition selects its source, because nothing is built here.
  await mkdir(path.join(folder, 'node_modules'));
  await symlink(path.join(projectRoot, 'clients', 'typescript'), path.join(folder, 'node_modules', 'everpost'));
  const verifier = path.join('node_modules', 'standardwebhooks');
  await symlink(path.join(projectRoot, verifier), path.join(folder, verifier));
  const env = { ...process.env, EVERPOST_URL: url, SECRET_KEY: keys.secretKey, PUBLIC_KEY: keys.publicKey };
  const ids: Ids = new Map();
  const files = new Set<string>();

  async function execute(program: string, args: string[]): Promise<string> {
    const options = { cwd: folder, env: { ...env, NODE_OPTIONS: '' }, timeout: BLOCK_MS_MAX };
    return (await promisify(execFile)(program, args, options)).stdout;
  }
  async function runTypeScript(code: string): Promise<string> {
    const named = /^\/\/ ([\w-]+\.ts)\n/.exec(code)?.[1];
    const name = named ?? `example-${files.size}.ts`;
    files.add(name);
    await writeFile(path.join(folder, name), code);
    return execute(process.execPath, ['--disable-warning=ExperimentalWarning', '--conditions=everpost-source', name]);
  }
  async function runFilter({ words, code }: DocsExample): Promise<void> {
    const condition = { logic: 'AND', groups: [{ filters: [JSON.parse(code) as unknown] }] };
    const created = await api('POST', '/segments', { body: { name: 'Recipe', condition } });
    if (created.status !== 201) throw new Error(`${code}\nanswered ${JSON.stringify(created.body)}`);
    const { body } = await api('GET', `/segments/${created.body.id}/contacts`);
    const names = body.data.map(({ email }: { email: string }) => email.split('@')[0]).sort();
    const expected = words[1] ?? '';
    if (names.join(',') !== expected) throw new Error(`${code}\nmatches ${names.join(',')}, not ${expected}`);
  }

  return {
    async run(example) {
      const code = example.code.replaceAll(UUID, (id) => ids.get(id) ?? id);
      if (example.language === 'json' && example.words[0] === 'filter') await runFilter({ ...example, code });
      else if (example.language === 'json' && example.words[0] === 'event') checkEvent(code);
      else if (example.language === 'ts') check(example, await runTypeScript(code), ids);
      else if (example.language === 'bash') {
        const isRead = code.startsWith('curl ') && !/ (--json|-X|-d|-F) /.test(code);
        const attempt = async () => {
          check(example, await execute('bash', ['-euo', 'pipefail', '-c', code]), ids);
          return true;
        };
        // The state that a request reads may come a moment later.
        if (isRead && example.answer) {
          await eventually(attempt, ANSWER_MS_MAX).catch((error: unknown) => {
            throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
          });
        } else await attempt();
      } else throw new Error(`nobody runs a block of ${example.language}: ${code}`);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
