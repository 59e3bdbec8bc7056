import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { query, sql, inTransaction, type Em } from '../shared/database/sql.ts';
import { nullable, text } from '../shared/database/tables.ts';
import {
  assertKnownNamespace,
  countOlderConnections,
  findKnownNamespace,
  otherNamespaceMessage,
  recordNamespace,
} from '../shared/domain/lifecycle/known-namespace.ts';
import { REACHES, restartAllWork } from '../shared/domain/lifecycle/reconciliation.ts';
import { reconcileWithTemporal } from '../shared/domain/lifecycle/reconcile.ts';
import { SCHEDULES } from './temporal/schedules.ts';
import { setUpTemporal, type NamespaceCheck, type TemporalSetupResult } from './temporal/setup.ts';
import { addressOf, findNamespaceId } from '../shared/durable/temporal/client.ts';
import { ConfigError, readVariable } from '../shared/platform/config.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { addCommand, type CliContext } from './context.ts';

/** Processes notice another namespace within 10 seconds, and finish what they send within 15. */
const PROCESSES_END_MS = 40_000;
/** The clocks of this machine and of Temporal differ by less. */
const CLOCKS_MS = 60_000;

/** Lets `setup` change only the namespace that works on the database, if there is a database that knows one. */
function knownOnly(context: CliContext): NamespaceCheck {
  const environment = context.environment();
  if (environment['DATABASE_URL'] === undefined || readVariable('TEMPORAL_ADOPT', environment))
    return () => Promise.resolve();
  const options = context.temporalOptions();
  const { namespace: name } = options;
  const address = addressOf(options);
  return (id) =>
    context.withDatabase(async (em) => {
      const [table] = await query(em, sql`select to_regclass('known_namespace') as name`, { name: nullable(text) });
      if (!table?.name) return;
      if (id !== undefined) return assertKnownNamespace(em, { id, name, address });
      const known = await findKnownNamespace(em);
      if (known) throw new ConfigError(otherNamespaceMessage(known, `"${name}" at ${address}, which does not exist`));
    });
}

function setupText(result: TemporalSetupResult): string {
  return [
    `Namespace ${result.namespace}: ${result.isNamespaceNew ? 'created' : 'exists'}`,
    `Search attributes added: ${result.searchAttributesAdded.join(', ') || 'none were missing'}`,
    `Schedules in place: ${result.schedules.join(', ') || 'none'}`,
  ].join('\n');
}

/** Waits until the processes have ended that may still work with the namespace before. */
async function untilOthersHaveEnded(em: Em): Promise<void> {
  const deadline = Date.now() + PROCESSES_END_MS;
  for (;;) {
    const count = await countOlderConnections(em);
    if (count === 0) return;
    if (Date.now() < deadline) {
      await delay(500);
      continue;
    }
    throw new ConfigError(
      `The namespace is adopted, but API or workers that may work with the one before still have ${count} connections ` +
        'to the database. Stop them, and run this command again: it starts the waiting work.',
    );
  }
}

function addAdopt(group: Command, context: CliContext): void {
  const about = 'Let this namespace work on the database, and start all waiting work in it';
  addCommand(group, 'adopt', about).action(async (_options: object, command: Command) => {
    const options = context.temporalOptions();
    const result = await setUpTemporal(options, SCHEDULES);
    const restarted = await context.withDatabase(async (em) => {
      await recordNamespace(em, { id: result.namespaceId, name: result.namespace, address: addressOf(options) });
      await untilOthersHaveEnded(em);
      return inTransaction(em, restartAllWork);
    });
    const { campaign, execution, job, optIn, email } = restarted;
    context.answer(
      command,
      { ...result, restarted },
      `${setupText(result)}\nThe namespace is adopted. Started again: ${campaign} campaigns, ${execution} executions, ` +
        `${job} jobs, ${optIn} confirmations, ${email} emails. Start API and workers now.`,
    );
  });
}

function addReconcile(program: Command, context: CliContext): void {
  const about = 'Start the workflows again that should be running and are not in Temporal';
  addCommand(program, 'reconcile', about)
    .option('--now', 'all that has not ended, not only what is late')
    .action(async ({ now }: { now?: true }, command: Command) => {
      const options = context.temporalOptions();
      const report = await context.withTemporal((temporal) =>
        context.withDatabase(async (em) => {
          const id = await findNamespaceId(temporal);
          await assertKnownNamespace(em, { id, name: options.namespace, address: addressOf(options) });
          const logger = createLogger({ level: 'silent', name: 'cli' });
          const asOf = new Date(Date.now() - CLOCKS_MS);
          return reconcileWithTemporal({ em: () => em, temporal, asOf, logger }, now ? REACHES.all : REACHES.late);
        }),
      );
      const text = `${report.checked} workflows checked, ${report.restartedCount} started again.`;
      context.answer(command, report, [text, ...report.restarted].join('\n  '));
    });
}

/** `temporal setup`, `temporal adopt` and `reconcile`. */
export function addTemporalCommands(program: Command, context: CliContext): void {
  const group = program.command('temporal').description('The Temporal namespace of Everpost');
  addCommand(group, 'setup', 'Create the namespace, search attributes and schedules that are missing').action(
    async (_options: object, command: Command) => {
      const result = await setUpTemporal(context.temporalOptions(), SCHEDULES, knownOnly(context));
      context.answer(command, result, setupText(result));
    },
  );
  addAdopt(group, context);
  addReconcile(program, context);
}
