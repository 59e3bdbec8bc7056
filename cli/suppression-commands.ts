import type { Command } from 'commander';
import { findProject } from '../shared/domain/projects/projects.ts';
import { listSuppressions, removeSuppression } from '../shared/domain/suppressions/suppressions.ts';
import { AppError } from '../shared/pure/app-error.ts';
import { normalizeAddress } from '../shared/pure/emails/email-address.ts';
import { addCommand, type CliContext } from './context.ts';
import { parseProjectId } from './project-id.ts';
import { formatTable } from './text-output.ts';

/** `suppression list` and `suppression remove`. */
export function addSuppressionCommands(program: Command, context: CliContext): void {
  const suppression = program.command('suppression').description('Addresses that get no more mail');

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

  addCommand(suppression, 'remove <projectId> <address>', 'Let an address have mail again').action(
    async (id: string, text: string, _options: object, command: Command) => {
      const email = normalizeAddress(text);
      const projectId = await context.withDatabase(async (em) => {
        const project = await findProject(em, parseProjectId(id));
        if (await removeSuppression(em, project.id, email)) return project.id;
        throw new AppError('RESOURCE_NOT_FOUND', { message: `${email} is not suppressed in this project` });
      });
      context.answer(
        command,
        { projectId, email, removed: true },
        `${email} may have mail again. Its contact stays unsubscribed until it subscribes itself.`,
      );
    },
  );
}
