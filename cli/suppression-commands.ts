import type { Command } from 'commander';
import { findProject } from '../shared/domain/projects/projects.ts';
import { listSuppressions, removeSuppression } from '../shared/domain/suppressions/suppressions.ts';
import { pageOfSuppressions, suppressAddresses } from '../shared/domain/suppressions/suppression-lists.ts';
import { AppError, badRequest } from '../shared/pure/app-error.ts';
import { isEmailAddress, normalizeAddress } from '../shared/pure/emails/email-address.ts';
import { addCommand, type CliContext } from './context.ts';
import { parseProjectId } from './project-id.ts';
import { formatFields, formatTable } from './text-output.ts';

function notSuppressed(email: string): AppError {
  return new AppError('RESOURCE_NOT_FOUND', { message: `${email} is not suppressed in this project` });
}

/** `suppression list | show | add | remove`. */
export function addSuppressionCommands(program: Command, context: CliContext): void {
  const suppression = program.command('suppression').description('Addresses that get no more email');

  addCommand(suppression, 'list <projectId>', 'List suppressed addresses, newest first (at most 10,000)').action(
    async (id: string, _options: object, command: Command) => {
      const rows = await context.withDatabase(async (em) => {
        const project = await findProject(em, parseProjectId(id));
        return listSuppressions(em, project.id);
      });
      const cells = rows.map((row) => [
        row.email ?? '(erased)',
        row.reason,
        row.createdAt.toISOString(),
        row.emailId ?? '',
      ]);
      const text =
        rows.length === 0 ? 'No address is suppressed.' : formatTable(['ADDRESS', 'REASON', 'SINCE', 'MAIL'], cells);
      context.answer(command, rows, text);
    },
  );

  addCommand(suppression, 'show <projectId> <address>', 'Say whether an address is suppressed, and why').action(
    async (id: string, text: string, _options: object, command: Command) => {
      const address = normalizeAddress(text);
      const found = await context.withDatabase(async (em) => {
        const project = await findProject(em, parseProjectId(id));
        const { suppressions } = await pageOfSuppressions(em, project.id, { limit: 1, address });
        return suppressions[0];
      });
      if (!found) throw notSuppressed(address);
      const fields = {
        Address: address,
        Reason: found.reason,
        Since: found.createdAt.toISOString(),
        Words: found.words ?? 'none',
        Email: found.emailId ?? 'none',
        Campaign: found.campaignId ?? 'none',
      };
      context.answer(command, { ...found, email: address }, formatFields(fields));
    },
  );

  addCommand(suppression, 'add <projectId> <address>', 'Stop all email to an address')
    .option('--words <text>', 'why, for people')
    .action(async (id: string, text: string, { words }: { words?: string }, command: Command) => {
      const email = normalizeAddress(text);
      if (!isEmailAddress(email)) throw badRequest(`"${text}" is not an email address`);
      const result = await context.withDatabase(async (em) => {
        const project = await findProject(em, parseProjectId(id));
        const added = await suppressAddresses(em, project.id, [{ address: email, words: words ?? null }]);
        return { projectId: project.id, email, added: added > 0 };
      });
      const outcome = result.added ? 'gets no more mail' : 'was suppressed already and keeps its reason';
      context.answer(command, result, `${email} ${outcome}.`);
    });

  addCommand(suppression, 'remove <projectId> <address>', 'Allow email to an address again').action(
    async (id: string, text: string, _options: object, command: Command) => {
      const email = normalizeAddress(text);
      const projectId = await context.withDatabase(async (em) => {
        const project = await findProject(em, parseProjectId(id));
        if (await removeSuppression(em, project.id, email)) return project.id;
        throw notSuppressed(email);
      });
      context.answer(
        command,
        { projectId, email, removed: true },
        `${email} may have mail again. Its contact stays unsubscribed until it subscribes itself.`,
      );
    },
  );
}
