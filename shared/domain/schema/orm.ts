import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import pg from 'pg';
import { errorMessage } from '../database/database-errors.ts';
import type { Em } from '../database/em.ts';
import { releaseLostConnections } from '../database/lost-connections.ts';
import { answerTimeoutMs, limitSession, type SessionLimits } from '../database/session-limits.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { textLiteral } from '../database/text-literal.ts';
import { entities } from './entities.ts';
import { MIGRATIONS } from './migrations.ts';
import { assertUsableDatabase, databaseName, permanentFault } from './usable-database.ts';

export type Orm = MikroORM;

export interface OrmOptions {
  databaseUrl: string;
  /** Connections this process may hold. */
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  onWarning?: (message: string) => void;
  /** How long the server lets statements and transactions take; unlimited when left out. */
  limits?: SessionLimits;
}

/** PostgreSQL type ids of timestamptz and bigint. */
const TIMESTAMPTZ = 1184;
const BIGINT = 20;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;
/** The advisory lock of migrations: processes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_310_525;

/** Raw queries return timestamps as Date and bigint counts as number, as entities do. */
function valueTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(TIMESTAMPTZ, (text) => new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')));
  types.setTypeParser(BIGINT, Number);
  return types;
}

/** The connection pool of each ORM, for metrics. */
const pools = new WeakMap<object, { pool?: pg.Pool }>();

function ormOptions(options: OrmOptions, onPool: (pool: pg.Pool) => void): Options {
  const { limits } = options;
  return {
    clientUrl: options.databaseUrl,
    entities,
    ensureDatabase: false,
    forceUtcTimezone: true,
    pool: { min: 0, max: options.poolSize ?? 10 },
    driverOptions: {
      application_name: options.applicationName ?? 'everpost',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      ...(limits && {
        query_timeout: answerTimeoutMs(limits.statementMs),
        onConnect: (client: pg.Client) => limitSession(client, limits),
      }),
      types: valueTypes(),
      onPoolCreated(pool: pg.Pool) {
        releaseLostConnections(pool);
        onPool(pool);
      },
    },
    extensions: [Migrator],
    migrations: {
      migrationsList: MIGRATIONS,
      snapshot: false,
    },
    logger: (message) => options.onWarning?.(message),
    colors: false,
  };
}

/** Connects to PostgreSQL. Nothing is created or changed; close with `orm.close()`. */
export async function createOrm(options: OrmOptions): Promise<Orm> {
  const poolHolder: { pool?: pg.Pool } = {};
  return MikroORM.init(ormOptions(options, (pool) => (poolHolder.pool = pool))).then((orm) => {
    Reflect.set(orm.em.getPlatform(), 'escapeLiteral', textLiteral);
    pools.set(orm, poolHolder);
    return orm;
  });
}

/** The open connections of an ORM, how many of them are idle, and how many callers wait for one. */
export function poolUsageOf(orm: Orm): { total: number; idle: number; waiting: number } {
  const pool = pools.get(orm)?.pool;
  return { total: pool?.totalCount ?? 0, idle: pool?.idleCount ?? 0, waiting: pool?.waitingCount ?? 0 };
}

function assertUsable(databaseUrl: string): Promise<void> {
  return assertUsableDatabase(
    databaseUrl,
    MIGRATIONS.map(({ name }) => name),
  );
}

/**
 * Why a database cannot be used, as a sentence for an operator; undefined when it can. Nothing is changed.
 * @throws never
 */
export async function findDatabaseFault(databaseUrl: string): Promise<string | undefined> {
  try {
    await assertUsable(databaseUrl);
    return undefined;
  } catch (error) {
    return permanentFault(databaseUrl, error)?.message ?? `${databaseName(databaseUrl)}: ${errorMessage(error)}`;
  }
}

/** Names of the migrations that a database lacks. Nothing is changed. */
export async function pendingMigrations(em: Em): Promise<string[]> {
  const table = await queryOne<{ name: string | null }>(
    em,
    sql`select to_regclass('mikro_orm_migrations')::text as name`,
  );
  const applied = table?.name ? await query<{ name: string }>(em, sql`select name from mikro_orm_migrations`) : [];
  const names = new Set(applied.map(({ name }) => name));
  return MIGRATIONS.map(({ name }) => name).filter((name) => !names.has(name));
}

/**
 * Brings the schema up to date. Safe to run from several processes at once.
 * @throws ConfigError when an operator has to mend something first
 */
export async function migrateUp(databaseUrl: string): Promise<void> {
  try {
    await assertUsable(databaseUrl);
    await runMigrations(databaseUrl);
  } catch (error) {
    throw permanentFault(databaseUrl, error) ?? error;
  }
}

async function runMigrations(databaseUrl: string): Promise<void> {
  const orm = await createOrm({ databaseUrl, poolSize: 2, applicationName: 'everpost-migrate' });
  try {
    await orm.em.fork().transactional(async (em) => {
      await query(em, sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      await orm.migrator.up();
    });
  } finally {
    await orm.close();
  }
}

/** Whether the schema is the one that this version needs. */
export async function isMigrated(orm: Orm): Promise<boolean> {
  const pending = await orm.migrator.getPending();
  return pending.length === 0;
}
