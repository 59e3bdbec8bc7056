import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { errorMessage, isConflict, isTooSlow } from '../../database/database-errors.ts';
import { query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, nullable, text } from '../../database/shape.ts';
import { MIGRATIONS, type SchemaMigration } from './migrations.ts';
import { createOrm } from './orm.ts';
import { assertUsableDatabase, databaseName, permanentFault } from './usable-database.ts';

/** The advisory lock of migrations: processes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_310_525;
const LOCK_POLL_MS = 200;
/** How long a migration waits for a lock on a table, because statements of other sessions wait behind it. */
const TABLE_LOCK_MS = 3_000;
/** How often a migration tries to get its locks, and how long others may work in between: 10 minutes in all. */
const TRIES_MAX = 100;
const PAUSE_MS = 3_000;

export interface MigrationReport {
  applied: string[];
  /** `everpost-api` and `everpost-worker`, where such processes were started before the schema changed: replace them. */
  olderProcesses: string[];
}

function namesOf(migrations: readonly SchemaMigration[]): string[] {
  return migrations.map(({ name }) => name);
}

/**
 * Why a database cannot be used, as a sentence for an operator; undefined when it can. Nothing is changed.
 * @throws never
 */
export async function findDatabaseFault(databaseUrl: string): Promise<string | undefined> {
  try {
    await assertUsableDatabase(databaseUrl, namesOf(MIGRATIONS));
    return undefined;
  } catch (error) {
    return permanentFault(databaseUrl, error)?.message ?? `${databaseName(databaseUrl)}: ${errorMessage(error)}`;
  }
}

/** Names of the migrations that a database lacks. Nothing is changed. */
export async function pendingMigrations(em: Em, migrations = MIGRATIONS): Promise<string[]> {
  const table = await queryOne(em, sql`select to_regclass('mikro_orm_migrations')::text as name`, {
    name: nullable(text),
  });
  const applied = table?.name ? await query(em, sql`select name from mikro_orm_migrations`, { name: text }) : [];
  const names = new Set(applied.map(({ name }) => name));
  return namesOf(migrations).filter((name) => !names.has(name));
}

/**
 * Brings the schema up to date, beside processes that work. Safe to run from several processes at once. Each migration
 * is a transaction of its own, and gives up and tries again when it waits for a lock, so that it never blocks a table
 * for longer than `TABLE_LOCK_MS`. After an interruption, another call goes on.
 * @param migrations those of this version unless told otherwise
 * @throws ConfigError when an operator has to mend something first; the driver's error when a table stays locked
 */
export async function migrateUp(databaseUrl: string, migrations = MIGRATIONS): Promise<MigrationReport> {
  try {
    await assertUsableDatabase(databaseUrl, namesOf(migrations));
    return await runMigrations(databaseUrl, migrations);
  } catch (error) {
    throw permanentFault(databaseUrl, error) ?? error;
  }
}

async function runMigrations(databaseUrl: string, migrations: readonly SchemaMigration[]): Promise<MigrationReport> {
  const orm = await createOrm({ databaseUrl, poolSize: 3, applicationName: 'everpost-migrate', migrations });
  try {
    if ((await pendingMigrations(orm.em.fork(), migrations)).length === 0) return { applied: [], olderProcesses: [] };
    return await withMigrationLock(orm, async (em) => {
      const pending = await pendingMigrations(em, migrations);
      const olderProcesses = await findProcesses(em);
      for (const name of pending) await apply(orm, name);
      return { applied: pending, olderProcesses };
    });
  } finally {
    await orm.close();
  }
}

/**
 * Does something while this process holds the lock of migrations. The lock is asked for again and again, each time in a
 * new transaction: an index that is built concurrently waits for transactions that have read something.
 */
async function withMigrationLock<T>(orm: MikroORM, work: (em: Em) => Promise<T>): Promise<T> {
  for (;;) {
    const done = await inTransaction(orm.em.fork(), async (em) => {
      const row = await queryOne(em, sql`select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as has`, { has: boolean });
      return row?.has ? { result: await work(em) } : undefined;
    });
    if (done) return done.result;
    await delay(LOCK_POLL_MS);
  }
}

/** Which of API and workers are there. Those that are connected before the schema changes have older code. */
async function findProcesses(em: Em): Promise<string[]> {
  const rows = await query(
    em,
    sql`
      select distinct substring(application_name from '^(everpost-(api|worker))') as name from pg_stat_activity
      where datname = current_database() and application_name ~ '^everpost-(api|worker)' order by 1`,
    { name: text },
  );
  return rows.map(({ name }) => name);
}

/** Applies one migration, trying again while other sessions hold its locks. */
async function apply(orm: MikroORM, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await inTransaction(orm.em.fork(), async (tx) => {
        await query(tx, sql`select set_config('lock_timeout', ${String(TABLE_LOCK_MS)}, true)`);
        const transaction = tx.getTransactionContext<unknown>();
        await orm.migrator.up({ migrations: [name], transaction });
      });
      return;
    } catch (error) {
      if (tries === TRIES_MAX || !(isTooSlow(error) || isConflict(error))) throw error;
      await delay(PAUSE_MS);
    }
  }
}
