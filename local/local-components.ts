import path from 'node:path';
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { findFreePort } from './processes/free-port.ts';
import { startMailbox } from './mailbox/mailbox.ts';
import type { ManagedChild } from './processes/child-process.ts';
import type { ProcessGuard } from './processes/process-guard.ts';
import type { Progress } from './progress.ts';
import type { Supervisor } from './processes/supervisor.ts';
import { fetchTemporalCli, findTemporalCli } from './temporal/temporal-cli.ts';
import { startTemporalServer } from './temporal/temporal-server.ts';

const databaseName = 'everpost';
const retentionDays = 3;
const preferredPorts = { postgres: 5433, temporal: 7233, temporalUi: 8233, smtp: 1025, mailbox: 1080 };

/** The order in which components are stopped, after the API and the worker (rank 1). */
const stopRanks = { mailbox: 2, temporal: 3, postgres: 4 };

/** The addresses of the components that the API and the worker need. */
export interface ComponentAddresses {
  databaseUrl: string;
  temporalAddress: string;
  smtpUrl: string;
  /** Null when the environment names the server. */
  temporalUiUrl: string | null;
  mailboxUrl: string | null;
  /**
   * Resolves when Temporal is ready, if its program has to be fetched first, which takes minutes. Otherwise Temporal is
   * ready already.
   */
  temporalLater?: Promise<void> | undefined;
}

export interface ComponentOptions {
  home: string;
  env: NodeJS.ProcessEnv;
  guard: ProcessGuard;
  progress: Progress;
  /** Ends a download or a build under way. */
  signal: AbortSignal;
  /** Starts a component, and restarts it when it ends. */
  start: Supervisor['start'];
}

/** Starts PostgreSQL, Temporal and the mailbox in parallel. It starts none that the environment names a server for. */
export async function startComponents(options: ComponentOptions): Promise<ComponentAddresses> {
  const [databaseUrl, temporal, mail] = await Promise.all([
    startPostgres(options),
    startTemporal(options),
    startMail(options),
  ]);
  return { databaseUrl, ...temporal, ...mail };
}

/** The options of its process that every component has. */
function processOptionsOf(
  name: keyof typeof stopRanks,
  { home, guard }: ComponentOptions,
  onSpawn: (child: ManagedChild) => void,
) {
  return { logFile: path.join(home, 'logs', `${name}.log`), stopRank: stopRanks[name], guard, onSpawn };
}

async function startPostgres(options: ComponentOptions): Promise<string> {
  const { home, env, progress, start } = options;
  if (env['DATABASE_URL']) {
    progress('PostgreSQL: using the server of DATABASE_URL');
    return env['DATABASE_URL'];
  }
  const port = await findFreePort(preferredPorts.postgres);
  const { url } = await start('PostgreSQL', (onSpawn) =>
    startEmbeddedPostgres({
      dataDirectory: path.join(home, 'postgres'),
      port,
      databases: [databaseName],
      isDurable: true,
      ...processOptionsOf('postgres', options, onSpawn),
    }),
  );
  progress(`PostgreSQL: ready on 127.0.0.1:${port}`);
  return url(databaseName);
}

async function startTemporal(
  options: ComponentOptions,
): Promise<Pick<ComponentAddresses, 'temporalAddress' | 'temporalUiUrl' | 'temporalLater'>> {
  const { home, env, progress, start, signal } = options;
  if (env['TEMPORAL_ADDRESS']) {
    progress('Temporal: using the server of TEMPORAL_ADDRESS');
    return { temporalAddress: env['TEMPORAL_ADDRESS'], temporalUiUrl: null };
  }
  const found = await findTemporalCli();
  const port = await findFreePort(preferredPorts.temporal);
  const uiPort = await findFreePort(preferredPorts.temporalUi);
  async function run(executable: string): Promise<void> {
    const { address } = await start('Temporal', (onSpawn) =>
      startTemporalServer({
        executable,
        port,
        uiPort,
        databaseFile: path.join(home, 'temporal.db'),
        retentionDays,
        ...processOptionsOf('temporal', options, onSpawn),
      }),
    );
    progress(`Temporal: ready on ${address}`);
  }
  if (found !== undefined) await run(found);
  const temporalLater = found === undefined ? fetchTemporalCli(progress, signal).then(run) : undefined;
  // Whoever waits for it sees the error; nobody may be waiting yet.
  temporalLater?.catch(() => undefined);
  return { temporalAddress: `127.0.0.1:${port}`, temporalUiUrl: `http://127.0.0.1:${uiPort}`, temporalLater };
}

async function startMail(options: ComponentOptions): Promise<Pick<ComponentAddresses, 'smtpUrl' | 'mailboxUrl'>> {
  const { home, env, progress, start } = options;
  if (env['SMTP_URL']) {
    progress('Mail: using the servers of SMTP_URL');
    return { smtpUrl: env['SMTP_URL'], mailboxUrl: null };
  }
  const smtpPort = await findFreePort(preferredPorts.smtp);
  const webPort = await findFreePort(preferredPorts.mailbox);
  const { smtpUrl, webUrl } = await start('mailbox', (onSpawn) =>
    startMailbox({
      folder: path.join(home, 'mailbox'),
      smtpPort,
      webPort,
      ...processOptionsOf('mailbox', options, onSpawn),
    }),
  );
  progress(`Mailbox: ready on ${smtpUrl}`);
  return { smtpUrl, mailboxUrl: webUrl };
}
