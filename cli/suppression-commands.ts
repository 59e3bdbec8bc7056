import type { Command } from 'commander';
import { listSuppressions, removeSuppression } from '../shared/domain/suppressions/suppressions.ts';
import { pageOfSuppressions, suppressAddresses } from '../shared/domain/suppressions/suppression-lists.ts';
import { AppError, badRequest } from '../shared/pure/app-error.ts';
import { isEmailAddress, normalizeAddress } from '../shared/pure/emails/email-address.ts';
import { addCommand, type CliContext } from './context.ts';
import { inProject } from './project-id.ts';
import { formatFields, formatTable } from './text-output.ts';

function notSuppressed(email: string): AppError {
  return new AppError('RESOURCE_NOT_FOUND', { message: `${email} is not suppressed in this project` });
}

/** `suppression list | show | add | remove`. */
export function addSuppressionCommands(program: Command, context: CliContext): void {
  const suppression = program.command('suppression').description('Addresses that get no more email');

  addCommand(
    suppression,
    'list <projectId>',
    'List suppressed addresses, newest first (at most 10,000)',
    'reads',
  ).action(async (id: string, _options: object, command: Command) => {
    const rows = await inProject(context, id, listSuppressions);
    const cells = rows.map((row) => [
      row.email ?? '(erased)',
      row.reason,
      row.createdAt.toISOString(),
      row.emailId ?? '',
    ]);
    const text =
      rows.length === 0 ? 'No address is suppressed.' : formatTable(['ADDRESS', 'REASON', 'SINCE', 'EMAIL ID'], cells);
    context.answer(command, rows, text);
  });

  addCommand(
    suppression,
    'show <projectId> <address>',
    'Say whether an address is suppressed, and why',
    'reads',
  ).action(async (id: string, text: string, _options: object, command: Command) => {
    const address = normalizeAddress(text);
    const found = await inProject(context, id, async (em, projectId) => {
      const { suppressions } = await pageOfSuppressions(em, projectId, { limit: 1, address });
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
  });

  addCommand(suppression, 'add <projectId> <address>', 'Stop all email to an address')
    .option('--words <text>', 'why, for people')
    .action(async (id: string, text: string, { words }: { words?: string }, command: Command) => {
      const email = normalizeAddress(text);
      if (!isEmailAddress(email)) throw badRequest(`"${text}" is not an email address`);
      const result = await inProject(context, id, async (em, projectId) => {
        const added = await suppressAddresses(em, projectId, [{ address: email, words: words ?? null }]);
        return { projectId, email, added: added > 0 };
      });
      const outcome = result.added ? 'gets no more email' : 'was suppressed already and keeps its reason';
      context.answer(command, result, `${email} ${outcome}.`);
    });

  addCommand(suppression, 'remove <projectId> <address>', 'Allow email to an address again').action(
    async (id: string, text: string, _options: object, command: Command) => {
      const email = normalizeAddress(text);
      const removedFrom = await inProject(context, id, async (em, projectId) => {
        if (await removeSuppression(em, projectId, email)) return projectId;
        throw notSuppressed(email);
      });
      context.answer(
        command,
        { projectId: removedFrom, email, removed: true },
        `${email} may get email again. Its contact stays unsubscribed until it subscribes itself.`,
      );
    },
  );
}
