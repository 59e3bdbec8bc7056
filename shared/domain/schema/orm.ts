import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Options } from '@mikro-orm/postgresql';
import pg from 'pg';
import { releaseLostConnections } from '../../database/lost-connections.ts';
import { renewPlans } from '../../database/fresh-plans.ts';
import { answerTimeoutMs, limitSession, type SessionLimits } from '../../database/session-limits.ts';
import { textLiteral } from '../../database/text-literal.ts';
import { MIGRATIONS, type SchemaMigration } from './migrations.ts';
import {
  AutomationEntity,
  AutomationStepEntity,
  AutomationTransitionEntity,
} from '../automations/automation.entity.ts';
import { CampaignEntity } from '../campaigns/campaign.entity.ts';
import { ContactEntity } from '../contacts/contact.entity.ts';
import { KeyEntity } from '../projects/key.entity.ts';
import { ProjectEntity } from '../projects/project.entity.ts';
import { SegmentEntity } from '../segments/segment.entity.ts';
import { SenderDomainEntity } from '../domains/sender-domain.entity.ts';
import { TemplateEntity } from '../templates/template.entity.ts';
import { TopicEntity } from '../topics/topic.entity.ts';

/** Every entity, named one by one: a folder scan would find files by accident. */
const entities = [
  AutomationEntity,
  AutomationStepEntity,
  AutomationTransitionEntity,
  CampaignEntity,
  ContactEntity,
  KeyEntity,
  ProjectEntity,
  SegmentEntity,
  SenderDomainEntity,
  TemplateEntity,
  TopicEntity,
];

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
  /** Other migrations than those of this version. */
  migrations?: readonly SchemaMigration[];
}

/** PostgreSQL type ids of timestamptz and bigint. */
const TIMESTAMPTZ = 1184;
const BIGINT = 20;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;

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
      ...(limits && { onConnect: (client: pg.Client) => limitSession(client, limits) }),
      types: valueTypes(),
      onPoolCreated(pool: pg.Pool) {
        releaseLostConnections(pool, limits && answerTimeoutMs(limits.statementMs));
        renewPlans(pool);
        onPool(pool);
      },
    },
    extensions: [Migrator],
    migrations: {
      migrationsList: [...(options.migrations ?? MIGRATIONS)],
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

/** Whether the schema is the one that this version needs. */
export async function isMigrated(orm: Orm): Promise<boolean> {
  const pending = await orm.migrator.getPending();
  return pending.length === 0;
}
