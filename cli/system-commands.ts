import type { Command } from 'commander';
import { migrateUp } from '../shared/domain/schema/migrate.ts';
import { addCommand, type CliContext } from './context.ts';

/** `migrate`; it changes nothing when there is nothing to do. */
export function addSystemCommands(program: Command, context: CliContext): void {
  addCommand(program, 'migrate', 'Bring the database schema up to date').action(
    async (_options: object, command: Command) => {
      const report = await context.explainFaults(() => migrateUp(context.databaseUrl()));
      const older = report.olderProcesses.join(', ');
      const text = older ? ` These processes are of the version before, replace them: ${older}.` : '';
      context.answer(command, { migrated: true, ...report }, `The database schema is up to date.${text}`);
    },
  );
}
