import path from 'node:path';
import { text as textOfStream } from 'node:stream/consumers';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { ImportFileError } from '../../shared/domain/contact-jobs/csv-file.ts';
import { readColumnMapping, type ColumnMapping } from '../../shared/domain/contact-jobs/import-header.ts';
import { movedParts, type MovedRow } from '../../shared/domain/contact-jobs/moved-rows.ts';
import { listProjects } from '../../shared/domain/projects/projects.ts';
import type { Em } from '../../shared/database/sql.ts';
import { allTopics } from '../../shared/domain/topics/topics.ts';
import { badRequest } from '../../shared/pure/app-error.ts';
import type { MovedTemplate } from '../../shared/pure/moving/moved.ts';
import { TOOLS, type Tool, type ToolName } from '../../shared/pure/moving/tools.ts';
import { addCommand, type CliContext } from '../context.ts';
import { inProject } from '../project-id.ts';
import { formatFields } from '../text-output.ts';
import { createGet } from './api-client.ts';
import { checkImport, runImport, type ImportPlan, type ImportTotals } from './run-import.ts';
import { assertReadable, contactParts, openFiles, ToolRows, toolFiles, type SourceFile } from './sources.ts';
import { importTemplates, type TemplateReport } from './templates.ts';

/** The variable with the key of another tool's API: on a command line every user of the machine could read it. */
const KEY_VARIABLE = 'EVERPOST_IMPORT_KEY';

function collectMapping(text: string, previous: ColumnMapping[]): ColumnMapping[] {
  const mapping = readColumnMapping(text);
  if (mapping) return [...previous, mapping];
  throw new InvalidArgumentError('It must be <column>:<target>, such as Kontakt:email or Ort:data.city.');
}

interface Options {
  project?: string;
  dryRun?: boolean;
}

/** Runs `work` for the project of an option, or for the only one. */
async function inNamedProject<T>(
  context: CliContext,
  { project }: Options,
  work: (em: Em, projectId: string) => Promise<T>,
): Promise<T> {
  if (project !== undefined) return inProject(context, project, work);
  const projects = await context.withDatabase(listProjects);
  const [only, other] = projects;
  if (only && !other) return inProject(context, only.id, work);
  throw badRequest('Name the project with --project <id>; `everpost project list` shows them');
}

function totalsText(totals: ImportTotals, isDryRun: boolean, templates: readonly TemplateReport[]): string {
  const count = (value: number): string => value.toLocaleString('en');
  const fields = formatFields({
    Rows: count(totals.rows),
    ...(!isDryRun && { Created: count(totals.createdCount), Updated: count(totals.updatedCount) }),
    [isDryRun ? 'Would be refused' : 'Refused']: count(totals.failureCount),
    ...Object.fromEntries(
      Object.entries(totals.leftCounts).map(([why, each]) => [`Not subscribed: ${why}`, count(each)]),
    ),
    Topics: `${totals.createdTopics.join(', ') || 'none'} ${isDryRun ? 'would be ' : ''}created`,
  });
  const errors = totals.errors.map((each) => `  ${JSON.stringify(each)}`);
  const reports = templates.map(({ name, outcome, problems }) =>
    [`Template ${name}: ${outcome}`, ...problems].join('\n  '),
  );
  return [fields, ...errors, ...reports].join('\n');
}

interface Planned extends Omit<ImportPlan, 'note'> {
  templates?: () => Promise<TemplateReport[]>;
}

async function carryOut(
  context: CliContext,
  command: Command,
  options: Options,
  plan: (em: Em, projectId: string) => Promise<Planned>,
): Promise<void> {
  const isDryRun = options.dryRun === true;
  await inNamedProject(context, options, async (em, projectId) => {
    const planned = { ...(await plan(em, projectId)), note: context.note };
    const totals = await (isDryRun ? checkImport : runImport)(em, projectId, planned).catch((error: unknown) => {
      // The API has a parameter where this command has an option.
      throw error instanceof ImportFileError ? badRequest(error.message.replaceAll(' map=', ' --map ')) : error;
    });
    const templates = (await planned.templates?.()) ?? [];
    context.answer(command, { projectId, ...totals, templates }, totalsText(totals, isDryRun, templates));
  });
}

interface ContactOptions extends Options {
  map: ColumnMapping[];
  format?: 'csv' | 'jsonl';
}

async function planContacts(path: string, { map, format }: ContactOptions): Promise<Planned> {
  const [file, other] = await openFiles([path]);
  if (!file || other) throw badRequest(file ? `${path} has several files: name one` : `There is no file ${path}`);
  const isJson = format === undefined ? /\.(?:jsonl?|ndjson)$/i.test(file.name) : format === 'jsonl';
  return {
    what: JSON.stringify({ map, isJson }),
    parts: () => contactParts(file, isJson, map),
    isRepeatable: path !== '-',
    keepsLeft: false,
  };
}

interface ToolOptions extends Options {
  lists?: Tool['lists'];
  url?: string;
  api?: boolean;
  keyStdin?: boolean;
  templates?: boolean;
  from?: string;
}

async function* noTemplates(files: readonly SourceFile[]): AsyncGenerator<MovedTemplate> {
  for (const file of files) {
    if (!/\.html?$/i.test(file.name)) continue;
    const name = path.basename(file.name).replace(/\.html?$/i, '');
    let body = '';
    const decoder = new TextDecoder();
    for await (const octets of file.read()) body += decoder.decode(octets, { stream: true });
    yield { name, subject: name, body, type: 'MARKETING' };
  }
}

/** Reads the exports of a tool, and its API where an URL or `--api` asks for it. */
async function planTool(
  context: CliContext,
  toolName: ToolName,
  paths: string[],
  options: ToolOptions,
): Promise<(em: Em, projectId: string) => Promise<Planned>> {
  const tool: Tool = TOOLS[toolName];
  const { api } = tool;
  const usesApi = options.api === true || options.url !== undefined;
  const url = options.url ?? api?.url;
  if (paths.length === 0 && !usesApi)
    throw badRequest(`Name the files that ${toolName} has exported${api ? ', or --api' : ''}`);
  if (usesApi && !api) throw badRequest(`${toolName} is imported from its export, not from its API`);
  if (usesApi && url === undefined) throw badRequest('Name the server with --url');
  const key = options.keyStdin
    ? (await textOfStream(process.stdin)).trim()
    : (context.environment()[KEY_VARIABLE] ?? '');
  if (usesApi && key === '')
    throw badRequest(`Put the key of the API into the variable ${KEY_VARIABLE}, or pass --key-stdin`);
  const get = usesApi && api && url !== undefined ? createGet(url, api.headers(key), context.note) : undefined;
  const files = await openFiles(paths);
  assertReadable(files, paths);
  const listsAre = options.lists ?? tool.lists;
  const rows = new ToolRows(listsAre);
  async function* moved(): AsyncGenerator<MovedRow> {
    if (get && api) {
      for await (const each of api.contacts(get, rows.order)) if (each !== undefined) yield rows.rowOf(each, undefined);
    }
    yield* toolFiles(tool, files, rows);
  }
  async function* templates(): AsyncGenerator<MovedTemplate> {
    if (get && api?.templates) yield* api.templates(get);
    yield* noTemplates(files);
  }
  return async (em, projectId) => {
    rows.topicKeys = new Set((await allTopics(em, projectId)).map(({ key }) => key));
    return {
      what: JSON.stringify({ toolName, listsAre }),
      parts: () => movedParts(moved()),
      isRepeatable: !usesApi && !paths.includes('-'),
      keepsLeft: true,
      lists: rows.lists,
      orderLists: () => rows.order(),
      ...(options.templates && {
        templates: () =>
          importTemplates(em, projectId, toolName, templates(), options.dryRun ? undefined : options.from),
      }),
    };
  };
}

/** `import contacts | plunk | listmonk | mailchimp | resend | sendgrid`. */
export function addImportCommands(program: Command, context: CliContext): void {
  const group = program.command('import').description('Contacts from files of any size, and from other tools');
  const add = (name: string, description: string): Command =>
    addCommand(group, name, description)
      .option('--project <id>', 'the project; may be left out when there is only one')
      .option('--dry-run', 'read everything, say what would happen, and store nothing');

  add('contacts <file>', 'Import a file of CSV or JSON lines, or - for the standard input')
    .option(
      '--map <column:target>',
      'what a column is, as in POST /contacts/import; may be repeated',
      collectMapping,
      [],
    )
    .addOption(
      new Option('--format <format>', 'by default what the name of the file says, or csv').choices(['csv', 'jsonl']),
    )
    .action((file: string, options: ContactOptions, command: Command) =>
      carryOut(context, command, options, () => planContacts(file, options)),
    );

  for (const name of Object.keys(TOOLS) as ToolName[]) {
    add(`${name} [files...]`, `Move here from ${name}: exported files, folders or ZIP archives of them`)
      .addOption(new Option('--lists <target>', 'what lists become').choices(['topics', 'field']))
      .option('--api', `read the API of ${name}; its key stands in the variable ${KEY_VARIABLE}`)
      .option('--url <url>', 'the API on another server; implies --api')
      .option('--key-stdin', 'read the key from the standard input')
      .option('--templates', 'translate templates, too, and report what cannot be translated')
      .option('--from <address>', 'the sender of the templates; without one they are not created')
      .action(async (files: string[], options: ToolOptions, command: Command) =>
        carryOut(context, command, options, await planTool(context, name, files, options)),
      );
  }
}
