import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import type { Em } from '../shared/database/sql.ts';
import { permanentFault } from '../shared/domain/schema/usable-database.ts';
import { createOrm } from '../shared/domain/schema/orm.ts';
import { ConfigError, readAppSecrets, readVariable } from '../shared/platform/config.ts';
import { appSecretsOf, type AppSecrets } from '../shared/platform/sealed-values.ts';
import { dataConverterOf } from '../shared/platform/temporal-codec.ts';
import {
  createTemporalClient,
  readTemporalOptions,
  type TemporalConnectOptions,
} from '../shared/durable/temporal/client.ts';
import { readLocalSecret, readLocalStack } from './local-stack.ts';

export interface CliStreams {
  writeOut: (text: string) => void;
  writeError: (text: string) => void;
}

/** Commands read `DATABASE_URL` and `TEMPORAL_*`; without these they use the stack of `npm start`. */
export function createCliContext(io: CliStreams & { environment: NodeJS.ProcessEnv }) {
  const { environment } = io;

  /** @throws ConfigError when no database is named and no local stack is there */
  function databaseUrl(): string {
    if (environment['DATABASE_URL']) return readVariable('DATABASE_URL', environment);
    const local = readLocalStack(environment);
    if (local) return local.variables.DATABASE_URL;
    throw new ConfigError(
      'DATABASE_URL is required, for example postgres://user:password@host:5432/everpost. ' +
        'Without it the commands use the local stack, which is not running: start it with `npm start`.',
    );
  }

  function temporalOptions(): TemporalConnectOptions {
    const isNamed = environment['TEMPORAL_ADDRESS'] ?? environment['DATABASE_URL'];
    const local = isNamed ? undefined : readLocalStack(environment);
    const codecKeys = readVariable('TEMPORAL_CODEC_KEYS', processEnvironment());
    if (!local) return readTemporalOptions(codecKeys, environment);
    // Credentials of another Temporal are not for the local one.
    return {
      connectionOptions: { address: local.temporalAddress },
      namespace: processEnvironment()['TEMPORAL_NAMESPACE'] ?? 'default',
      dataConverter: dataConverterOf(codecKeys),
    };
  }

  /**
   * The variables of the processes. In a clone without DATABASE_URL those of the running local stack; what the command
   * itself is given comes first, apart from the addresses.
   */
  function processEnvironment(): NodeJS.ProcessEnv {
    const local = environment['DATABASE_URL'] ? undefined : readLocalStack(environment);
    if (!local) return environment;
    const { DATABASE_URL, SMTP_URL, PUBLIC_URL } = local.variables;
    return { ...local.variables, ...environment, DATABASE_URL, SMTP_URL, PUBLIC_URL };
  }

  /** APP_SECRET and its earlier values, for sealed data; undefined when neither the environment nor a local stack has it. */
  function appSecrets(): AppSecrets | undefined {
    const local = environment['DATABASE_URL'] ? undefined : readLocalSecret(environment);
    const named = readAppSecrets({ APP_SECRET: local, ...processEnvironment() });
    return named && appSecretsOf(named);
  }

  /** Runs `work`. A database fault that waiting cannot correct becomes an error with a sentence about it. */
  async function explainFaults<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw permanentFault(databaseUrl(), error) ?? error;
    }
  }

  /** Runs `work` with an entity manager of its own; its connections are closed afterwards. */
  async function withDatabase<T>(work: (em: Em) => Promise<T>): Promise<T> {
    const orm = await createOrm({ databaseUrl: databaseUrl(), poolSize: 2, applicationName: 'everpost-cli' });
    try {
      return await explainFaults(() => work(orm.em.fork()));
    } finally {
      await orm.close();
    }
  }

  /** Runs `work` with a client of Temporal, whose connection is closed afterwards. */
  async function withTemporal<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = createTemporalClient(temporalOptions());
    try {
      return await work(client);
    } finally {
      await client.connection.close();
    }
  }

  let answered: object | undefined;
  /** Prints the result: as one JSON value with `--json`, else the text for people. */
  function answer(command: Command, result: object, text: string): void {
    answered = result;
    io.writeOut(command.opts()['json'] ? `${JSON.stringify(result)}\n` : `${text}\n`);
  }

  return {
    databaseUrl,
    temporalOptions,
    environment: processEnvironment,
    appSecrets,
    /** KEY_MARK; undefined when the processes have none. @throws ConfigError */
    keyMark: (): string | undefined => readVariable('KEY_MARK', processEnvironment()),
    /** INBOUND_DOMAIN; undefined when the processes have none. @throws ConfigError */
    inboundDomain: (): string | undefined => readVariable('INBOUND_DOMAIN', processEnvironment()),
    /** DNS_SERVERS; an empty list means those of the system. @throws ConfigError */
    dnsServers: (): string[] => readVariable('DNS_SERVERS', processEnvironment()),
    withDatabase,
    withTemporal,
    explainFaults,
    /** Says how far a command is, which is no part of its result. */
    note: (text: string) => io.writeError(`${text}\n`),
    /** What `answer` printed; undefined before. */
    result: (): object | undefined => answered,
    answer,
  };
}

/** The context of all commands: access to the data, and the output. */
export type CliContext = ReturnType<typeof createCliContext>;

/** Whether a command writes, by its options: then it is recorded, like a writing request. */
const WRITES = new WeakMap<Command, (options: Record<string, unknown>) => boolean>();

/** Whether a command that was called with its options writes. */
export function isWriting(command: Command): boolean {
  return WRITES.get(command)?.(command.opts()) ?? false;
}

/**
 * Adds a subcommand, with the option `--json` that all of them have.
 * @param effect what it does. `writesWith` names the one option with which it writes
 */
export function addCommand(
  parent: Command,
  nameAndArguments: string,
  description: string,
  effect: 'writes' | 'reads' | { writesWith: string } = 'writes',
): Command {
  const command = parent
    .command(nameAndArguments)
    .description(description)
    .option('--json', 'print the result as one JSON value and nothing else');
  WRITES.set(command, (options) => {
    if (typeof effect === 'object') return Boolean(options[effect.writesWith]);
    return effect === 'writes';
  });
  return command;
}
