import { mkdtempSync, chmodSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stopInOrder } from '../../local/processes/child-process.ts';
import type { ManagedChild } from '../../local/processes/child-process.ts';
import { startEmbeddedPostgres } from '../../local/postgres/embedded-postgres.ts';
import { findFreePort } from '../../local/processes/free-port.ts';
import { startProcessGuard } from '../../local/processes/process-guard.ts';
import type { ProcessGuard } from '../../local/processes/process-guard.ts';
import { resolveTemporalCli } from '../../local/temporal/temporal-cli.ts';
import { startTemporalServer } from '../../local/temporal/temporal-server.ts';
import { resolveTimeSkippingServer } from './time-skipping-program.ts';
import { environmentFileVariable } from '../support/environment.ts';
import type { ProvidedPart, TestEnvironment } from '../support/environment.ts';

declare global {
  /** Set by the set-up of a test run, for its tear-down. */
  var everpostTestStack: { stop(): Promise<void> } | undefined;
}

const templateDatabase = 'everpost_template';
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_MIN_BYTES = 4 * 1024 ** 3;

/**
 * A folder in memory, where there is one with enough room. Each database of a test is 650 files, and copying them on a
 * disk takes ten times the CPU.
 */
function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    if (bavail * bsize >= MEMORY_MIN_BYTES) return MEMORY_FOLDER;
  } catch {
    // Only Linux has one.
  }
  return tmpdir();
}

/** Starts the servers that all tests share, and writes their addresses to a file. */
export default async function globalSetup(): Promise<void> {
  const startedAt = Date.now();
  process.stderr.write('Starting PostgreSQL and Temporal for the tests\n');
  const folder = mkdtempSync(path.join(parentFolder(), 'everpost-test-'));
  // PostgreSQL of a root shell runs as another user and must be able to enter.
  chmodSync(folder, 0o755);
  const guard = startProcessGuard();
  guard.removeAfterwards(folder);
  const children: ManagedChild[] = [];
  globalThis.everpostTestStack = {
    stop: async () => {
      await stopInOrder(children);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };

  const [postgres, temporal, timeSkipping, bundle] = await Promise.allSettled([
    startDatabase(folder, guard, children),
    startTemporal(folder, guard, children),
    resolveTimeSkippingServer(say),
    bundlePath(),
  ]);
  const template = postgres.status === 'fulfilled' ? await settle(migrateTemplate(postgres.value)) : postgres;
  const parts: Record<keyof TestEnvironment, ProvidedPart> = {
    databaseAdminUrl: provided(
      'PostgreSQL',
      mapValue(postgres, (url) => url('postgres')),
    ),
    templateDatabase: provided('PostgreSQL with all migrations', template),
    temporalAddress: provided('Temporal', temporal),
    timeSkippingServerPath: provided('The time-skipping server', timeSkipping),
    workflowBundlePath: provided('The bundle of the workflows', bundle),
  };
  for (const part of Object.values(parts)) if ('error' in part) say(part.error);

  const file = path.join(folder, 'environment.json');
  writeFileSync(file, JSON.stringify(parts), { mode: 0o600 });
  process.env[environmentFileVariable] = file;
  say(`PostgreSQL, Temporal and the workflow bundle took ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
}

type DatabaseUrl = (database: string) => string;

async function startDatabase(folder: string, guard: ProcessGuard, children: ManagedChild[]): Promise<DatabaseUrl> {
  const { child, url } = await startEmbeddedPostgres({
    dataDirectory: path.join(folder, 'postgres'),
    port: await findFreePort(0),
    databases: [templateDatabase],
    isDurable: false,
    logFile: path.join(folder, 'postgres.log'),
    stopRank: 2,
    guard,
  });
  children.push(child);
  return url;
}

async function startTemporal(folder: string, guard: ProcessGuard, children: ManagedChild[]): Promise<string> {
  const { child, address } = await startTemporalServer({
    executable: await resolveTemporalCli(say),
    port: await findFreePort(0),
    retentionDays: 1,
    logFile: path.join(folder, 'temporal.log'),
    stopRank: 1,
    guard,
  });
  children.push(child);
  return address;
}

async function migrateTemplate(url: DatabaseUrl): Promise<string> {
  const { migrateUp } = await import('../../shared/domain/schema/migrate.ts');
  await migrateUp(url(templateDatabase));
  return templateDatabase;
}

async function bundlePath(): Promise<string> {
  const { cachedWorkflowBundle } = await import('../../worker/workflow-bundle.ts');
  const bundle = await cachedWorkflowBundle(false);
  if (!('codePath' in bundle)) throw new Error('node_modules cannot be written.');
  return bundle.codePath;
}

async function settle<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [result] = await Promise.allSettled([work]);
  return result;
}

function mapValue<A, B>(result: PromiseSettledResult<A>, change: (value: A) => B): PromiseSettledResult<B> {
  return result.status === 'fulfilled' ? { status: 'fulfilled', value: change(result.value) } : result;
}

function provided(what: string, result: PromiseSettledResult<string>): ProvidedPart {
  if (result.status === 'fulfilled') return { value: result.value };
  const reason: unknown = result.reason;
  return {
    error: `${what} is not available to the tests: ${reason instanceof Error ? reason.message : String(reason)}`,
  };
}

function say(line: string): void {
  process.stderr.write(`  ${line}\n`);
}
