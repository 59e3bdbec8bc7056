import { MikroORM, type Options } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import { entities } from './entities.ts';
import { releaseLostConnections } from '../database/lost-connections.ts';
import { ReconciliationMigration } from './migrations/20261121050000-reconciliation.ts';
import { InitialMigration } from './migrations/20261121000000-initial.ts';
import { AutomationsMigration } from './migrations/20261121010000-automations.ts';
import { SenderDomainDnsMigration } from './migrations/20261121020000-sender-domain-dns.ts';
import { AudienceMigration } from './migrations/20261121030000-audience.ts';
import { FeedbackMigration } from './migrations/20261121040000-feedback.ts';
import { RecoveryMigration } from './migrations/20261121061000-recovery.ts';
import { PublicRateMigration } from './migrations/20261122070100-public-rate.ts';
import { ContactDataLimitMigration } from './migrations/20261122070200-contact-data-limit.ts';
import { SegmentFaultsMigration } from './migrations/20261122070301-segment-faults.ts';
import { DeliveryAttemptsMigration } from './migrations/20261122070401-delivery-attempts.ts';
import { AutomationChainsMigration } from './migrations/20261122070602-automation-chains.ts';
import { OutboxTurnsMigration } from './migrations/20261122070601-outbox-turns.ts';
import { ReplyAddressesMigration } from './migrations/20261122070700-reply-addresses.ts';
import { KnownSecretsMigration } from './migrations/20261122070701-known-secrets.ts';
import { answerTimeoutMs, limitSession, type SessionLimits } from '../database/session-limits.ts';
import { ClaimsMigration } from './migrations/20261122070300-claims.ts';
import { CampaignErrorMigration } from './migrations/20261122070500-campaign-error.ts';
import { UrgentBudgetMigration } from './migrations/20261122070501-urgent-budget.ts';
import { ErasureMigration } from './migrations/20261122070801-erasure.ts';
import { FilterFunctionsMigration } from './migrations/20261122102100-filter-functions.ts';
import { NamesPerProjectMigration } from './migrations/20261122102200-names-per-project.ts';
import { ExecutionJobsMigration } from './migrations/20261122102300-execution-jobs.ts';
import { EmailRefusalMigration } from './migrations/20261122110000-email-refusal.ts';
import { BounceUndoMigration } from './migrations/20261122130000-bounce-undo.ts';
import { EmailListsMigration } from './migrations/20261122150000-email-lists.ts';
<<<<<<< HEAD
import { CampaignPauseMigration } from './migrations/20261122200000-campaign-pause.ts';
import { ComplaintRatesMigration } from './migrations/20261122191000-complaint-rates.ts';
import { CampaignResendMigration } from './migrations/20261122201000-campaign-resend.ts';
import { CampaignsSendingMigration } from './migrations/20261122160000-campaigns-sending.ts';
=======
import { TrackSecretKeyMigration } from './migrations/20261122300000-track-secret-key.ts';
>>>>>>> d4df545 (Let one-key clients track, and give operators the commands they miss)
import { ProviderHealthMigration } from './migrations/20261122140000-provider-health.ts';
import { EventConsequencesMigration } from './migrations/20261122205000-event-consequences.ts';
import { errorMessage } from '../database/database-errors.ts';
import type { Em } from '../database/em.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { assertUsableDatabase, databaseName, permanentFault } from './usable-database.ts';
import { EndedExecutionsMigration } from './migrations/20261122400100-ended-executions.ts';
import { WebhooksMigration } from './migrations/20261122400000-webhooks.ts';
import { query, sql } from '../database/sql.ts';
import { assertUsableDatabase, permanentFault } from './usable-database.ts';
import pg from 'pg';

export type Orm = MikroORM;

export interface OrmOptions {
  databaseUrl: string;
  /** Connections this process may hold. */
  poolSize?: number;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  onWarning?: (message: string) => void;
  /** How long the server lets statements and transactions take; without them there is no end. */
  limits?: SessionLimits;
}

/** PostgreSQL type ids of timestamptz and bigint. */
const TIMESTAMPTZ = 1184;
const BIGINT = 20;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;
/** Two processes that start together both migrate; this advisory lock makes one wait for the other. */
const MIGRATION_LOCK = 7_310_525;

const MIGRATIONS = [
  { name: '20261121000000-initial', class: InitialMigration },
  { name: '20261121010000-automations', class: AutomationsMigration },
  { name: '20261121020000-sender-domain-dns', class: SenderDomainDnsMigration },
  { name: '20261121030000-audience', class: AudienceMigration },
  { name: '20261121040000-feedback', class: FeedbackMigration },
  { name: '20261121050000-reconciliation', class: ReconciliationMigration },
  { name: '20261121061000-recovery', class: RecoveryMigration },
  { name: '20261122070100-public-rate', class: PublicRateMigration },
  { name: '20261122070200-contact-data-limit', class: ContactDataLimitMigration },
  { name: '20261122070300-claims', class: ClaimsMigration },
  { name: '20261122070301-segment-faults', class: SegmentFaultsMigration },
  { name: '20261122070401-delivery-attempts', class: DeliveryAttemptsMigration },
  { name: '20261122070500-campaign-error', class: CampaignErrorMigration },
  { name: '20261122070501-urgent-budget', class: UrgentBudgetMigration },
  { name: '20261122070601-outbox-turns', class: OutboxTurnsMigration },
  { name: '20261122070602-automation-chains', class: AutomationChainsMigration },
  { name: '20261122070700-reply-addresses', class: ReplyAddressesMigration },
  { name: '20261122070701-known-secrets', class: KnownSecretsMigration },
  { name: '20261122070801-erasure', class: ErasureMigration },
  { name: '20261122102100-filter-functions', class: FilterFunctionsMigration },
  { name: '20261122102200-names-per-project', class: NamesPerProjectMigration },
  { name: '20261122102300-execution-jobs', class: ExecutionJobsMigration },
  { name: '20261122110000-email-refusal', class: EmailRefusalMigration },
  { name: '20261122130000-bounce-undo', class: BounceUndoMigration },
  { name: '20261122140000-provider-health', class: ProviderHealthMigration },
  { name: '20261122150000-email-lists', class: EmailListsMigration },
<<<<<<< HEAD
  { name: '20261122160000-campaigns-sending', class: CampaignsSendingMigration },
  { name: '20261122191000-complaint-rates', class: ComplaintRatesMigration },
  { name: '20261122200000-campaign-pause', class: CampaignPauseMigration },
  { name: '20261122201000-campaign-resend', class: CampaignResendMigration },
  { name: '20261122205000-event-consequences', class: EventConsequencesMigration },
  { name: '20261122400000-webhooks', class: WebhooksMigration },
  { name: '20261122400100-ended-executions', class: EndedExecutionsMigration },
=======
  { name: '20261122300000-track-secret-key', class: TrackSecretKeyMigration },
>>>>>>> d4df545 (Let one-key clients track, and give operators the commands they miss)
];

/** Timestamps of raw queries arrive as Date and counts as number, as those of entities do. */
function valueTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(TIMESTAMPTZ, (text) => new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')));
  types.setTypeParser(BIGINT, Number);
  return types;
}

/** Pools of connections, for metrics. */
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

function remember<T extends object>(orm: T, held: { pool?: pg.Pool }): T {
  pools.set(orm, held);
  return orm;
}

/** Connects to PostgreSQL. Nothing is created or changed; close with `orm.close()`. */
export async function createOrm(options: OrmOptions): Promise<Orm> {
  const held: { pool?: pg.Pool } = {};
  return MikroORM.init(ormOptions(options, (pool) => (held.pool = pool))).then((orm) => remember(orm, held));
}

/** The connections that an ORM has open, those of them that nobody uses, and how many callers wait for one. */
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

/** Whether the schema is the one this version needs. */
export async function isMigrated(orm: Orm): Promise<boolean> {
  const pending = await orm.migrator.getPending();
  return pending.length === 0;
}
