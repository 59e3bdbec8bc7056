import { Command, CommanderError } from 'commander';
import { addAuditCommand } from './audit-command.ts';
import { addBounceCommands } from './bounce-commands.ts';
import { addDeployCommands } from './deploy-commands.ts';
import { addDomainCommands } from './domain-commands.ts';
import { addEmailCommands } from './email-commands.ts';
import { addExecutionCommands } from './execution-commands.ts';
import { describeFailure } from './failure.ts';
import { addDoctorCommand } from './doctor/doctor-command.ts';
import { createCliContext, type CliStreams } from './context.ts';
import { addImportCommands } from './import/import-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addLinkCommands } from './link-commands.ts';
import { addProjectCommands } from './project-commands.ts';
import { addDeliverabilityCommand } from './deliverability-command.ts';
import { addQueueCommand } from './queue-command.ts';
import { addShapingCommands, addSourceCommands } from './source-commands.ts';
import { recordCommand } from './record-command.ts';
import { addSecretsCommands } from './secrets-commands.ts';
import { addSuppressionCommands } from './suppression-commands.ts';
import { addSystemCommands } from './system-commands.ts';
import { addTemporalCommands } from './temporal-commands.ts';
import { addWarmUpCommands } from './warm-up-commands.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { projectRoot } from '../shared/platform/paths.ts';

function everpostVersion(): string {
  const text = readFileSync(path.join(projectRoot, 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}

const COMMANDS = [
  addProjectCommands,
  addKeyCommands,
  addAuditCommand,
  addDomainCommands,
  addEmailCommands,
  addImportCommands,
  addExecutionCommands,
  addSecretsCommands,
  addSuppressionCommands,
  addLinkCommands,
  addBounceCommands,
  addQueueCommand,
  addDeliverabilityCommand,
  addSourceCommands,
  addShapingCommands,
  addWarmUpCommands,
  addSystemCommands,
  addTemporalCommands,
  addDeployCommands,
  addDoctorCommand,
];

/**
 * Redirects a command and all its subcommands: commander does not copy the settings to subcommands that already exist.
 */
function redirect(command: Command, streams: CliStreams): void {
  command.exitOverride().configureOutput({ writeOut: streams.writeOut, writeErr: streams.writeError });
  for (const child of command.commands) redirect(child, streams);
}

/** The operator commands, before they are parsed. */
export function createProgram(
  io: CliStreams & { environment: NodeJS.ProcessEnv },
  context = createCliContext(io),
): Command {
  const program = new Command('everpost')
    .description('Operator commands of Everpost')
    .version(everpostVersion(), '--version', 'print the version')
    .showHelpAfterError('(add --help for the usage)');
  for (const add of COMMANDS) add(program, context);
  redirect(program, io);
  return program;
}

/**
 * Runs one operator command. Its result goes to standard output, everything else to standard error.
 * @param args the words after the program's name
 * @returns the exit code: 0, or 1 when the command is not understood or fails; it never throws
 */
export async function runCli(
  args: readonly string[],
  io: CliStreams & { environment: NodeJS.ProcessEnv },
): Promise<number> {
  const context = createCliContext(io);
  let command: Command | undefined;
  const program = createProgram(io, context).hook('preAction', (_program, called) => {
    command = called;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // A command that failed, perhaps for want of a database, is recorded if that is possible.
    if (command) await recordCommand(context, command, error).catch(() => undefined);
    // Commander has already printed its message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    io.writeError(`${describeFailure(error)}\n`);
    return 1;
  }
  if (command) {
    await recordCommand(context, command).catch((error: unknown) => {
      io.writeError(`The command was carried out, and could not be recorded: ${describeFailure(error)}\n`);
    });
  }
  return 0;
}
