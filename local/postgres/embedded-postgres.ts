import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type ManagedChild, startChild, waitUntilReady } from '../processes/child-process.ts';
import { postgresAccount, type PostgresAccount, wrapCommand } from './postgres-account.ts';
import { postgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import type { ProcessGuard } from '../processes/process-guard.ts';
import { commandLineOf, isRunning, sendSignal, waitUntilGone } from '../processes/running-process.ts';

const run = promisify(execFile);
const superuser = 'postgres';
/** PostgreSQL's message while sessions of a killed server still use the data. They end by themselves. */
const IN_USE = 'is still in use';
const SESSIONS_END_MS = 20_000;
const passwordFileName = 'everpost-password';

const durableSettings = { shared_buffers: '256MB', max_wal_size: '1GB' };
const throwAwaySettings = {
  shared_buffers: '128MB',
  fsync: 'off',
  wal_init_zero: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '2GB',
  autovacuum_naptime: '10min',
};

export interface EmbeddedPostgresOptions {
  dataDirectory: string;
  /** TCP port on 127.0.0.1. */
  port: number;
  /** Databases to create when the data directory is new. */
  databases: readonly string[];
  /** False trades durability for speed: for data that is thrown away after a test run. */
  isDurable: boolean;
  logFile: string;
  stopRank: number;
  guard: ProcessGuard;
  /** Called as soon as there is a process. */
  onSpawn?: (child: ManagedChild) => void;
}

export interface EmbeddedPostgres {
  readonly child: ManagedChild;
  /** Connection URL of one database, superuser's password included. */
  readonly url: (database: string) => string;
}

/**
 * Starts PostgreSQL from the npm package on 127.0.0.1 and waits until it accepts connections.
 * Creates the data directory on first use, and takes over the directory of a server whose parent was killed.
 * Rejects with the last lines of its log when it does not come up.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const deadline = Date.now() + SESSIONS_END_MS;
  for (;;) {
    try {
      return await startOnce(options);
    } catch (error) {
      const isInUse = error instanceof Error && error.message.includes(IN_USE);
      if (!isInUse || Date.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

async function startOnce(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = await postgresBinaries();
  const account = await postgresAccount(options.dataDirectory, [
    binaries.directory,
    path.dirname(options.dataDirectory),
  ]);
  if (!existsSync(path.join(options.dataDirectory, 'PG_VERSION')))
    await createDataDirectory(options, binaries, account);
  await releaseDataDirectory(options.dataDirectory);

  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    logging_collector: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
    ...(options.isDurable ? durableSettings : throwAwaySettings),
  };
  let announceReady: () => void = () => undefined;
  const announced = new Promise<void>((resolve) => (announceReady = resolve));
  const [command, args] = wrapCommand(account, binaries.postgres, [
    '-D',
    options.dataDirectory,
    '-p',
    String(options.port),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const child = await startChild({
    name: 'PostgreSQL',
    command,
    args,
    cwd: options.dataDirectory,
    env: postgresEnvironment(),
    uid: account.spawnUid,
    gid: account.spawnGid,
    logFile: options.logFile,
    stopRank: options.stopRank,
    // SIGINT is PostgreSQL's fast shutdown: it ends open sessions, while SIGTERM would wait for them.
    stopSignal: 'SIGINT',
    guard: options.guard,
    onSpawn: options.onSpawn,
    onLine: (line) => {
      if (line.includes('database system is ready to accept connections')) announceReady();
    },
  });
  try {
    await waitUntilReady(child, 60_000, () => announced);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const password = readFileSync(path.join(options.dataDirectory, passwordFileName), 'utf8').trim();
  return { child, url: (database) => `postgresql://${superuser}:${password}@127.0.0.1:${options.port}/${database}` };
}

async function createDataDirectory(
  options: EmbeddedPostgresOptions,
  binaries: PostgresBinaries,
  account: PostgresAccount,
): Promise<void> {
  const { dataDirectory } = options;
  if (existsSync(dataDirectory)) {
    throw new Error(`${dataDirectory} exists but holds no PostgreSQL data. Move it away and start again.`);
  }
  // Created under another name and renamed at the end, so that an interrupted first start leaves nothing incomplete.
  const building = `${dataDirectory}.new`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true, mode: 0o700 });
  const passwordFile = `${building}.password`;
  const password = randomBytes(24).toString('base64url');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account.uid !== undefined && account.gid !== undefined) {
    chownSync(building, account.uid, account.gid);
    chownSync(passwordFile, account.uid, account.gid);
  }
  try {
    await runAs(account, binaries.initdb, [
      `--pgdata=${building}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The server's own locale does not depend on which locales the machine has.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      // The password is random, so its hash needs no iterations, which each connection would repeat.
      ...(options.isDurable ? [] : ['--no-sync', '--no-data-checksums', '--set=scram_iterations=1']),
    ]);
    for (const database of options.databases) {
      await runAs(
        account,
        binaries.postgres,
        ['--single', '-D', building, 'postgres'],
        `CREATE DATABASE "${database}";\n`,
      );
    }
  } finally {
    rmSync(passwordFile, { force: true });
  }
  writeFileSync(path.join(building, passwordFileName), `${password}\n`, { mode: 0o600 });
  renameSync(building, dataDirectory);
}

async function runAs(
  account: PostgresAccount,
  program: string,
  programArgs: readonly string[],
  input = '',
): Promise<void> {
  const [command, args] = wrapCommand(account, program, programArgs);
  const running = run(command, args, {
    cwd: path.parse(program).root,
    env: postgresEnvironment(),
    ...(account.spawnUid === undefined ? {} : { uid: account.spawnUid, gid: account.spawnGid }),
  });
  running.child.stdin?.on('error', () => undefined);
  running.child.stdin?.end(input);
  try {
    await running;
  } catch (error) {
    const output = (error as { stderr?: string }).stderr ?? '';
    throw new Error(`${path.basename(program)} failed: ${output.trim() || (error as Error).message}`, { cause: error });
  }
}

/** PostgreSQL's programs must not translate their messages, because this module looks for some of them in the log. */
function postgresEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && name !== 'LANGUAGE');
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' };
}

/**
 * Ends a server that a killed parent left behind, and removes a lock file whose process id now belongs to another
 * program. Any other lock file stays: from it a new server knows whether sessions of the old one still write.
 */
async function releaseDataDirectory(dataDirectory: string): Promise<void> {
  const lockFile = path.join(dataDirectory, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number.parseInt(readFileSync(lockFile, 'utf8'), 10);
  if (!Number.isInteger(pid) || !isRunning(pid)) return;
  if (!commandLineOf(pid).includes(dataDirectory)) {
    rmSync(lockFile, { force: true });
    return;
  }
  sendSignal(pid, 'SIGINT');
  if (!(await waitUntilGone(pid, 15_000))) sendSignal(pid, 'SIGKILL');
  await waitUntilGone(pid, 5_000);
}
