import type { Command } from 'commander';
import { migrateUp } from '../shared/domain/schema/orm.ts';
import { SCHEDULES } from '../shared/dispatch/schedules.ts';
import { setUpTemporal } from '../shared/dispatch/temporal-setup.ts';
import { addCommand, type CliContext } from './context.ts';

/** `migrate` and `temporal setup`; both change nothing when there is nothing to do. */
export function addSystemCommands(program: Command, context: CliContext): void {
  addCommand(program, 'migrate', 'Bring the database schema up to date').action(
    async (_options: object, command: Command) => {
      await context.explainFaults(() => migrateUp(context.databaseUrl()));
      context.answer(command, { migrated: true }, 'The database schema is up to date.');
    },
  );

  const temporal = program.command('temporal').description('The Temporal namespace of Everpost');
  addCommand(temporal, 'setup', 'Create the namespace, search attributes and schedules that are missing').action(
    async (_options: object, command: Command) => {
      const result = await setUpTemporal(context.temporalOptions(), SCHEDULES);
      const text = [
        `Namespace ${result.namespace}: ${result.isNamespaceNew ? 'created' : 'exists'}`,
        `Search attributes added: ${result.searchAttributesAdded.join(', ') || 'none were missing'}`,
        `Schedules in place: ${result.schedules.join(', ') || 'none'}`,
      ].join('\n');
      context.answer(command, result, text);
    },
  );
}
