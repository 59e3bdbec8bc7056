import type { Command } from 'commander';
import { validate as isUuid } from 'uuid';
import { blockLinks, listBlockedLinks, unblockLinks } from '../shared/domain/engagement/blocked-links.ts';
import { AppError, badRequest } from '../shared/pure/app-error.ts';
import { addCommand, type CliContext } from './context.ts';
import { inProject } from './project-id.ts';
import { formatTable } from './text-output.ts';

/** Reads a project id, a host name or a URL. @throws AppError BAD_REQUEST */
function readSubject(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  const url = text.includes('://') ? text : `http://${text}`;
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
  if (host === '') throw badRequest(`"${text}" is neither a host name such as shop.example.com nor a project id`);
  return host;
}

/** What a block stops, in words. */
function scopeOf(subject: string): string {
  return isUuid(subject) ? `of project ${subject}` : `to ${subject} and the names below it`;
}

/** `link list | block | unblock`. */
export function addLinkCommands(program: Command, context: CliContext): void {
  const link = program.command('link').description('Links in emails that lead nowhere any longer');

  addCommand(link, 'list', 'List what is blocked; deleted projects are, too', 'reads').action(
    async (_options: object, command: Command) => {
      const rows = await context.withDatabase(listBlockedLinks);
      const cells = rows.map(({ subject, createdAt }) => [subject, createdAt.toISOString()]);
      const text = rows.length === 0 ? 'No link is blocked.' : formatTable(['HOST OR PROJECT', 'SINCE'], cells);
      context.answer(command, rows, text);
    },
  );

  addCommand(link, 'block <hostOrProjectId>', 'Stop redirecting to a host, or from the email of a project').action(
    async (text: string, _options: object, command: Command) => {
      const subject = readSubject(text);
      const block = async () => context.withDatabase((em) => blockLinks(em, subject));
      const added = isUuid(subject) ? await inProject(context, subject, blockLinks) : await block();
      const outcome = added ? 'lead nowhere from now on' : 'were blocked already';
      context.answer(command, { subject, added }, `Links ${scopeOf(subject)} ${outcome}.`);
    },
  );

  addCommand(link, 'unblock <hostOrProjectId>', 'Redirect again').action(
    async (text: string, _options: object, command: Command) => {
      const subject = readSubject(text);
      if (!(await context.withDatabase((em) => unblockLinks(em, subject)))) {
        throw new AppError('RESOURCE_NOT_FOUND', { message: `Links ${scopeOf(subject)} are not blocked` });
      }
      context.answer(command, { subject, removed: true }, `Links ${scopeOf(subject)} are no longer blocked.`);
    },
  );
}
