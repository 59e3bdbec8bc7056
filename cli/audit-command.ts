import type { Command } from 'commander';
import { listAudit, outcomeOf } from '../shared/domain/audit/audit.ts';
import { findProject } from '../shared/domain/projects/projects.ts';
import { addCommand, type CliContext } from './context.ts';
import { parseProjectId } from './project-id.ts';
import { formatTable } from './text-output.ts';

const ENTRIES_MAX = 100;

/** `audit`: who did what, in the whole instance or in a project. */
export function addAuditCommand(program: Command, context: CliContext): void {
  addCommand(program, 'audit', 'Show commands about the whole instance, newest first (at most 100)', 'reads')
    .option('--project <id>', 'what was done in a project instead')
    .action(async ({ project }: { project?: string }, command: Command) => {
      const { entries } = await context.withDatabase(async (em) => {
        const only = project === undefined ? null : (await findProject(em, parseProjectId(project))).id;
        return listAudit(em, only, { limit: ENTRIES_MAX });
      });
      const rows = entries.map((entry) => [
        entry.createdAt.toISOString(),
        entry.keyName ?? entry.actor,
        entry.operation,
        outcomeOf(entry),
        entry.subjectIds.join(', '),
      ]);
      const head = ['WHEN', 'WHO', 'WHAT', 'OUTCOME', 'ABOUT'];
      context.answer(command, entries, rows.length === 0 ? 'Nothing is recorded.' : formatTable(head, rows));
    });
}
