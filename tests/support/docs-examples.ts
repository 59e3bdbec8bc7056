import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Marked, type Tokens } from 'marked';
import { projectRoot } from '../../shared/platform/paths.ts';
import { checkWithoutRunning } from './docs-parsing.ts';
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
/**
 * The word after the language when a block is not an answer: a filter of a segment, an event, a query of Temporal, or
 * settings and commands that nobody can run here.
 */
const OWN_EXAMPLES = ['filter', 'event', 'query', 'settings'];
const ANSWER_MS_MAX = 15_000;
const BLOCK_MS_MAX = 60_000;
/** The blocks of a page share one shell, as pasted. Readonly variables belong to each shell itself. */
const SHELL = `
if [ -f .shell ]; then source .shell; fi
trap '{ declare -p | grep -Ev "^declare -[aAilntux]*r"; declare -f; } > .shell' EXIT
source .block < /dev/null`;
/** Parts of a clone that blocks name by their path. */
const LINKED = ['docs', 'shared', ...['@temporalio', 'standardwebhooks'].map((name) => `node_modules/${name}`)];

/** The examples of a page, in their order. @param file its path in the project */
export async function readExamples(file: string): Promise<DocsExample[]> {
  const text = await readFile(path.join(projectRoot, file), 'utf8');
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

/** A folder with what the blocks of a page find in a clone of the project beside a running `npm start`. */
async function makeFolder(url: string, { keys }: TestProject): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'everpost-docs-'));
  await writeFile(path.join(folder, 'package.json'), '{"type": "module"}');
  for (const name of ['node_modules', '.everpost']) await mkdir(path.join(folder, name));
  for (const name of LINKED) await symlink(path.join(projectRoot, name), path.join(folder, name));
  // Webpack does not take an entry behind a link.
  await cp(path.join(projectRoot, 'workflows'), path.join(folder, 'workflows'), { recursive: true });
  // The link replaces an installed client. An export condition selects its source, because nothing is built here.
  await symlink(path.join(projectRoot, 'clients', 'typescript'), path.join(folder, 'node_modules', 'everpost'));
  const local = {
    apiUrl: url,
    ...keys,
    domain: 'local.test',
    temporalUiUrl: null,
    mailboxUrl: null,
    submissionPort: 2587,
  };
  await writeFile(path.join(folder, '.everpost', 'local.json'), JSON.stringify(local));
  // What the command above the block that replays it writes.
  const recording = path.join(projectRoot, 'workflows', 'histories', 'automationExecution.completed.json');
  await symlink(recording, path.join(folder, 'f.json'));
  await mkdir(path.join(folder, 'bin'));
  const jq = path.join(projectRoot, 'tests', 'support', 'jq-main.ts');
  await writeFile(path.join(folder, 'bin', 'jq'), `#!/bin/sh\nexec '${process.execPath}' '${jq}' "$@"\n`, {
    mode: 0o755,
  });
  return folder;
}

/** Runs the examples of one page with a project of its own. Later examples see the records of earlier ones. */
export async function startPage(
  url: string,
  project: TestProject,
  countWorkflows: (query: string) => Promise<unknown>,
): Promise<PageRun> {
  const { keys, api } = project;
  const folder = await makeFolder(url, project);
  const env = {
    ...process.env,
    EVERPOST_URL: url,
    SECRET_KEY: keys.secretKey,
    PUBLIC_KEY: keys.publicKey,
    PATH: `${path.join(folder, 'bin')}${path.delimiter}${process.env['PATH'] ?? ''}`,
  };
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

  async function runShell(example: DocsExample): Promise<void> {
    const { code } = example;
    if (code.match(UUID)) throw new Error(`the block cannot be pasted, it holds an id: ${code}`);
    await writeFile(path.join(folder, '.block'), code);
    const attempt = async () => {
      check(example, await execute('bash', ['-euo', 'pipefail', '-c', SHELL]), ids);
      return true;
    };
    // The state that a request reads may come a moment later.
    const isRead = code.startsWith('curl ') && !/ (--json|-X|-d|-F) /.test(code);
    if (!isRead || !example.answer) return void (await attempt());
    await eventually(attempt, ANSWER_MS_MAX).catch((error: unknown) => {
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    });
  }

  return {
    async run(example) {
      const { language, words, code } = example;
      if (words[0] === 'settings' || (await checkWithoutRunning(example))) return;
      if (language === 'json' && words[0] === 'filter') {
        await runFilter({ ...example, code: code.replaceAll(UUID, (id) => ids.get(id) ?? id) });
      } else if (language === 'json' && words[0] === 'event') checkEvent(code);
      else if (language === 'text' && words[0] === 'query') await countWorkflows(code);
      else if (language === 'ts') check(example, await runTypeScript(code), ids);
      else if (language === 'bash' || language === 'sh') await runShell(example);
      else throw new Error(`nobody runs a block of ${language}: ${code}`);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
