import { createReadStream, createWriteStream } from 'node:fs';
import { access, constants, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Command } from 'commander';
import { badRequest } from '../shared/pure/app-error.ts';
import { createDkimKeyring } from '../shared/sending/compose/dkim/key-pair.ts';
import { inSnapshot } from '../shared/database/sql.ts';
import { deleteProject, restProject } from '../shared/domain/lifecycle/delete-project.ts';
import { warningsOfPools } from '../shared/domain/emails/sources.ts';
import { findProject } from '../shared/domain/projects/projects.ts';
import { projectFile } from '../shared/domain/project-files/export-project.ts';
import { importProject, projectOfFile } from '../shared/domain/project-files/import-project.ts';
import { checkTemporal } from '../shared/durable/temporal/client.ts';
import type { Em } from '../shared/database/sql.ts';
import { addCommand, type CliContext } from './context.ts';
import { unpacked } from './import/sources.ts';
import { parseProjectId } from './project-id.ts';
import { webhookSecretsOf } from './secrets-commands.ts';
import { endWorkflowsOf, wereEndedWithin } from './temporal/end-workflows.ts';
import { formatFields } from './text-output.ts';

/** The name for standard output and input. */
const STANDARD = '-';
const isCompressed = (file: string): boolean => file.endsWith('.gz');

/**
 * Refuses a name under which no file can be written, before a project is put to rest for it.
 * @throws AppError BAD_REQUEST, or the fault of the folder
 */
async function assertWritable(file: string): Promise<void> {
  if (file === STANDARD) return;
  const found = await stat(file).catch(() => undefined);
  if (found && !found.isFile()) throw badRequest(`${file} is not a file; \`-\` is standard output`);
  await access(path.dirname(file), constants.W_OK);
}

async function writeOut(source: Readable): Promise<void> {
  try {
    await pipeline(source, process.stdout, { end: false });
  } catch (error) {
    // Its codes are also those of the connection to PostgreSQL.
    if (process.stdout.errored !== error) throw error;
    throw badRequest(`Standard output takes no more: ${(error as Error).message}`);
  }
}

/** Writes a file under its name only when it is complete, for its owner alone. */
async function writeFile(file: string, lines: AsyncIterable<string>): Promise<void> {
  const source = Readable.from(lines, { objectMode: false });
  if (file === STANDARD) return writeOut(source);
  const part = `${file}.part`;
  const octets = createWriteStream(part, { mode: 0o600 });
  try {
    await (isCompressed(file) ? pipeline(source, createGzip(), octets) : pipeline(source, octets));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** The octets of a file. A fault of the file itself, such as its absence, is thrown, too. */
function octetsOf(file: string): AsyncIterable<Buffer> {
  if (file === STANDARD) return process.stdin;
  return isCompressed(file) ? unpacked(file) : createReadStream(file);
}

async function rest(context: CliContext, em: Em, projectId: string): Promise<void> {
  await context.withTemporal(async (client) => {
    await checkTemporal(client);
    await restProject(em, projectId, {
      end: () => endWorkflowsOf(client, projectId),
      wereEndedWithin: (ms) => wereEndedWithin(client, projectId, ms),
    });
  });
}

interface ExportOptions {
  move?: boolean;
  withAddressKey?: boolean;
}

function addExport(project: Command, context: CliContext): void {
  addCommand(project, 'export <id> <file>', 'Write a project with its history into a file; - is standard output')
    .option('--move', 'put the project to rest first: it is disabled, and what runs goes on where it is enabled')
    .option('--with-address-key', 'the file has the key that hashes the addresses of erased people')
    .action(async (id: string, file: string, { move, withAddressKey }: ExportOptions, command: Command) => {
      await assertWritable(file);
      const { name } = await context.withDatabase(async (em) => {
        const found = await findProject(em, parseProjectId(id));
        if (move) await rest(context, em, found.id);
        await inSnapshot(em, (tx) => writeFile(file, projectFile(tx, found.id, withAddressKey ?? false)));
        return found;
      });
      if (file !== STANDARD) context.answer(command, { id, name, file }, `Wrote ${name} to ${file}.`);
    });
}

interface ImportFileOptions {
  newSecrets?: boolean;
  dropHashes?: boolean;
  undo?: boolean;
}

function addImport(project: Command, context: CliContext): void {
  addCommand(project, 'import <file>', 'Read the file of a project; - is standard input')
    .option('--new-secrets', 'replace keys that APP_SECRET does not open')
    .option('--drop-hashes', 'leave out suppressions of erased people when this installation cannot know them again')
    .option('--undo', 'remove what an import has stored that did not end')
    .action(async (file: string, options: ImportFileOptions, command: Command) => {
      const { newSecrets = false, dropHashes = false, undo } = options;
      if (undo) {
        const removed = await context.withDatabase(async (em) => {
          const id = await projectOfFile(em, octetsOf(file));
          return { id, rows: await deleteProject(em, id, () => Promise.resolve()) };
        });
        context.answer(command, removed, `Removed ${removed.rows} records.`);
        return;
      }
      const imported = await context.withDatabase(async (em) => {
        const webhookSecrets = await webhookSecretsOf(context, em);
        const secrets = context.appSecrets();
        const keyring = secrets && createDkimKeyring(secrets.appSecret, secrets.previousSecrets);
        const read = await importProject(em, octetsOf(file), { webhookSecrets, keyring, newSecrets, dropHashes });
        (await warningsOfPools(em, await findProject(em, read.id))).forEach(context.note);
        return read;
      });
      const text = formatFields({
        Project: imported.name,
        Id: imported.id,
        Rows: String(Object.values(imported.rows).reduce((sum, count) => sum + count, 0)),
        'New keys': imported.newSecrets.join(', ') || 'none',
        'Given up deliveries': String(imported.droppedDeliveries),
        'Suppressions left out': String(imported.droppedSuppressions),
      });
      context.answer(
        command,
        imported,
        `${text}\nIt is disabled: \`everpost project enable ${imported.id}\` starts it.`,
      );
    });
}

/** `project export` and `project import`. */
export function addProjectFileCommands(project: Command, context: CliContext): void {
  addExport(project, context);
  addImport(project, context);
}
