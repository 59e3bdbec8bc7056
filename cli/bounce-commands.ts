import type { Command } from 'commander';
import type { Em } from '../shared/database/sql.ts';
import {
  bounceSelectionSchema,
  previewBounceUndo,
  undoBounces,
  type BounceSelection,
  type BounceUndo,
} from '../shared/domain/emails/undo-bounces.ts';
import { findProject, listProjects } from '../shared/domain/projects/projects.ts';
import { badRequest } from '../shared/pure/app-error.ts';
import { addCommand, type CliContext } from './context.ts';
import { parseProjectId } from './project-id.ts';
import { formatTable } from './text-output.ts';

interface UndoOptions {
  since: string;
  until?: string;
  project?: string;
  provider?: string;
  words?: string;
  dryRun?: true;
}

type ProjectUndo = BounceUndo & { projectId: string };

function readSelection({ since, until, provider, words }: UndoOptions): BounceSelection {
  const result = bounceSelectionSchema.safeParse({ since, until, provider, words });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw badRequest(`--${issue?.path.join('.')}: ${issue?.message}`);
}

/** Undoes all selected bounces of one project, in as many calls as that takes. */
async function undoAll(em: Em, projectId: string, selection: BounceSelection): Promise<BounceUndo> {
  const total = await undoBounces(em, projectId, selection, { by: 'operator' });
  while (total.hasMore) {
    const next = await undoBounces(em, projectId, selection, { by: 'operator' });
    total.emails += next.emails;
    total.subscribed += next.subscribed;
    total.unsuppressed += next.unsuppressed;
    total.hasMore = next.hasMore;
  }
  return total;
}

function textOf(projects: readonly ProjectUndo[], isDryRun: boolean): string {
  if (projects.length === 0) return 'No hard bounce is selected.';
  const headings = ['PROJECT', 'BOUNCES', 'SUBSCRIBED', 'UNSUPPRESSED', 'ADDRESSES'];
  const rows = projects.map((each) => [
    each.projectId,
    `${each.emails}${each.hasMore ? ' or more' : ''}`,
    String(each.subscribed),
    String(each.unsuppressed),
    each.addresses.map((address) => address ?? '(erased)').join(', '),
  ]);
  return `${formatTable(headings, rows)}${isDryRun ? '\nNothing was changed.' : ''}`;
}

/** `bounces undo`: reverses what mistaken hard bounces did to contacts and suppressions. */
export function addBounceCommands(program: Command, context: CliContext): void {
  const bounces = program.command('bounces').description('Subscriptions and suppressions that hard bounces changed');

  addCommand(bounces, 'undo', 'Undo hard bounces: subscribe their contacts again and lift their suppressions')
    .requiredOption('--since <time>', 'the first moment, as 2026-01-31 or 2026-01-31T08:00:00Z')
    .option('--until <time>', 'the moment before which; now when omitted')
    .option('--project <id>', 'one project; all of them when omitted')
    .option('--provider <domain>', 'the domain of the recipients')
    .option('--words <text>', "a part of the server's words")
    .option('--dry-run', 'show what would change, and change nothing')
    .action(async (options: UndoOptions, command: Command) => {
      const selection = readSelection(options);
      const isDryRun = options.dryRun === true;
      const projects = await context.withDatabase(async (em) => {
        const named =
          options.project === undefined ? undefined : await findProject(em, parseProjectId(options.project));
        const undone: ProjectUndo[] = [];
        for (const { id } of named ? [named] : await listProjects(em)) {
          const counts = await (isDryRun ? previewBounceUndo : undoAll)(em, id, selection);
          if (counts.emails > 0) undone.push({ projectId: id, ...counts });
        }
        return undone;
      });
      context.answer(command, { dryRun: isDryRun, projects }, textOf(projects, isDryRun));
    });
}
