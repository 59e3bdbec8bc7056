import type { Command } from 'commander';
import { migrateUp } from '../shared/domain/schema/orm.ts';
import { addCommand, type CliContext } from './context.ts';

/** `migrate`; it changes nothing when there is nothing to do. */
export function addSystemCommands(program: Command, context: CliContext): void {
  addCommand(program, 'migrate', 'Bring the database schema up to date').action(
    async (_options: object, command: Command) => {
      await context.explainFaults(() => migrateUp(context.databaseUrl()));
      context.answer(command, { migrated: true }, 'The database schema is up to date.');
    },
  );
}
