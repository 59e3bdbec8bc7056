import { inSql, query, queryOne, sql, type Em } from '../../shared/database/sql.ts';
import { date, number, text, tables, type Shape } from '../../shared/database/tables.ts';
import { findDatabaseFault, pendingMigrations } from '../../shared/domain/schema/migrate.ts';
import { createOrm } from '../../shared/domain/schema/orm.ts';
import { isUsableSecret } from '../../shared/domain/secrets/known-secrets.ts';
import type { AppSecrets } from '../../shared/platform/sealed-values.ts';
import { findingsAbout, type Finding, type Probe } from './finding.ts';
import { shapingFindings } from './shaping-findings.ts';
import type { RecordPurpose } from '../../shared/domain/domains/dns-records.ts';
import { reportingProject } from '../../shared/domain/emails/tls-reports.ts';
import { findDomainFaults } from '../../shared/domain/domains/domain-health.ts';

/** Webhook endpoints whose events cross the public internet in clear. They keep working, because they are there. */
async function httpWebhookFindings(em: Em): Promise<Finding[]> {
  const rows = await query(
    em,
    sql`
      select id, count(*) over ()::int as total from webhook_endpoint where enabled and url ilike 'http://%'
      order by id limit 3`,
    { id: tables.webhookEndpoint.id, total: number },
  );
  const [first] = rows;
  if (!first) return [];
  const names = `${rows.map(({ id }) => id).join(', ')}${first.total > rows.length ? ' and others' : ''}`;
  const text = `${first.total} ${first.total === 1 ? 'endpoint has' : 'endpoints have'} an http URL: ${names}`;
  return [
    findingsAbout('webhooks').warn(
      text,
      'Give them https URLs, unless they are in a network of yours: their events hold addresses.',
    ),
  ];
}

/** Sessions whose transactions this role may not see. Erasures wait for the transactions that they see. */
async function hiddenSessionFindings(em: Em): Promise<Finding[]> {
  const row = await queryOne(
    em,
    sql`
      select count(*)::int as count, current_user::text as role from pg_stat_activity a
      where datname = current_database() and usesysid is not null and not pg_has_role(current_user, 'pg_read_all_stats', 'usage')
        and not pg_has_role(current_user, usesysid, 'usage')`,
    { count: number, role: text },
  );
  if (!row || row.count === 0) return [];
  const problem = `${row.count} sessions belong to roles that ${row.role} may not watch: erasures do not wait for them`;
  return [
    findingsAbout('database roles').warn(problem, `Run \`grant pg_read_all_stats to "${row.role}"\` in PostgreSQL.`),
  ];
}

const { ok, warn } = findingsAbout('sender domains');
/** Faults that are named; a longer list helps nobody. */
const NAMED_MAX = 20;

/** Without both of them, bounces do not come back at a name below the domain. */
const RETURN_PATH_RECORDS = ['RETURN_PATH', 'SPF'] as const;

/** What each sender domain lacks, as its last check in DNS found it: the signature, and records. */
async function domainFindings(em: Em, inboundDomain: string | undefined): Promise<Finding[]> {
  const wanted: RecordPurpose[] = ['DKIM', 'DMARC', ...(inboundDomain === undefined ? [] : RETURN_PATH_RECORDS)];
  const { faults, total } = await findDomainFaults(em, wanted, NAMED_MAX);
  if (total === 0) return [ok(`all that may send are signed and have ${wanted.join(', ').replace('_', '-')}`)];
  const findings = faults.map(({ domain, projectId, isUnsigned, missing }) => {
    const lack = missing.length > 0 ? `no ${missing.join(', ')} record found` : 'all records were found just now';
    const state = isUnsigned ? `is trusted and sends unsigned: ${lack}` : `is signed: ${lack}`;
    const action = `\`everpost domain list ${projectId}\` prints the records to publish.`;
    return warn(`${domain} ${state}`, action);
  });
  const rest = total - faults.length;
  if (rest > 0) findings.push(warn(`${rest} more domains lack something`, 'Publish the records of these first.'));
  return findings;
}

/** Whether reports about TLS can be signed. Without that those for mailboxes are kept for three days, and forgotten. */
async function reportFindings(em: Em, from: string | undefined): Promise<Finding[]> {
  if (from === undefined) return [];
  const { ok, warn } = findingsAbout('reports about TLS');
  if ((await reportingProject(em, from)) !== undefined) return [ok(`the domain of ${from} is verified`)];
  const problem = `no project has verified the domain of ${from}: reports do not go by email`;
  return [warn(problem, 'Add the domain to a project and verify it, or change TLS_REPORT_FROM.')];
}

const STATEMENT_MS = 4_000;
const LIMITS = { statementMs: STATEMENT_MS, lockMs: 1_000, idleInTransactionMs: STATEMENT_MS, transactionMs: 8_000 };
/** Connections of an API process beside its pool, for authentication. */
const AUTHENTICATION_CONNECTIONS = 2;
const CLOCK_WARN_MS = 1_000;
const CLOCK_FAIL_MS = 30_000;
/** Share of the connections in use above which few are left. */
const CONNECTIONS_SHARE_MAX = 0.85;

/** A setting of PostgreSQL, its good values, and what other values mean. */
interface WantedSetting {
  name: string;
  values: string[];
  level: 'warn' | 'fail';
  consequence: string;
}

const WANTED: WantedSetting[] = [
  { name: 'fsync', values: ['on'], level: 'fail', consequence: 'a power cut can destroy the database' },
  { name: 'full_page_writes', values: ['on'], level: 'fail', consequence: 'a power cut can destroy the database' },
  {
    name: 'synchronous_commit',
    values: ['on', 'remote_write', 'remote_apply', 'local'],
    level: 'warn',
    consequence: 'a power cut can lose what callers were told is stored',
  },
  { name: 'autovacuum', values: ['on'], level: 'warn', consequence: 'tables grow, and queries get slower' },
  { name: 'server_encoding', values: ['UTF8'], level: 'fail', consequence: 'not every text can be stored' },
  {
    name: 'default_transaction_isolation',
    values: ['read committed'],
    level: 'warn',
    consequence: 'statements fail that others would wait for',
  },
  {
    name: 'transaction_read_only',
    values: ['off'],
    level: 'fail',
    consequence: 'nothing can be written; it may be a standby',
  },
];

async function settingFindings(em: Em): Promise<Finding[]> {
  const { fail, ok, warn } = findingsAbout('database settings');
  const rows = await query(
    em,
    sql`select name, current_setting(name) as value from pg_settings where name in (${sqlList(WANTED.map(({ name }) => name))})`,
    { name: text, value: text },
  );
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  const faults = WANTED.flatMap(({ name, values: wanted, level, consequence }) => {
    const value = values.get(name);
    if (value === undefined || wanted.includes(value)) return [];
    const make = level === 'fail' ? fail : warn;
    return [make(`${name} is ${value}: ${consequence}`, `Set ${name} to ${wanted[0] ?? ''} in PostgreSQL.`)];
  });
  return faults.length > 0 ? faults : [ok(WANTED.map(({ name }) => name).join(', '))];
}

async function connectionFindings(em: Em, poolSize: number): Promise<Finding[]> {
  const { ok, warn, fail } = findingsAbout('connections');
  const row = await queryOne(
    em,
    sql`
      select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0) as available,
        count(*)::int as used,
        count(distinct application_name) filter (where application_name like 'everpost-api %')::int as api,
        count(distinct coalesce(host(client_addr), '')) filter (where application_name = 'everpost-worker')::int as workers
      from pg_stat_activity where backend_type = 'client backend'`,
    { available: number, used: number, api: number, workers: number },
  );
  if (!row) return [];
  const { available, used } = row;
  const [api, workers] = [Math.max(1, row.api), Math.max(1, row.workers)];
  const needed = api * (poolSize + AUTHENTICATION_CONNECTIONS) + workers * poolSize;
  const processes = `${api} API and ${workers} worker ${workers === 1 ? 'process' : 'processes'}`;
  const action = 'Raise max_connections of PostgreSQL, or lower DATABASE_POOL_SIZE.';
  if (needed > available) {
    return [fail(`${processes} may open ${needed}, and PostgreSQL has ${available}`, action)];
  }
  const findings = [ok(`${processes} may open ${needed} of ${available}`)];
  if (used > available * CONNECTIONS_SHARE_MAX) {
    findings.push(warn(`${used} of ${available} are in use just now`, action));
  }
  return findings;
}

/** Columns that this version needs and the database lacks, as `table.column`. */
async function missingColumns(em: Em): Promise<string[]> {
  const rows = await query(
    em,
    sql`
      select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = current_schema()::regnamespace and a.attnum > 0 and not a.attisdropped`,
    { name: text },
  );
  const present = new Set(rows.map(({ name }) => name));
  const needed = Object.values<Shape>(tables).flatMap((columns) => Object.values(columns).map(({ origin }) => origin));
  return needed.map((origin = '') => inSql(origin)).filter((name) => !present.has(name));
}

async function migrationFindings(em: Em): Promise<Finding[]> {
  const { ok, fail } = findingsAbout('migrations');
  const pending = await pendingMigrations(em);
  if (pending.length > 0) return [fail(`${pending.length} are pending`, 'Run `everpost migrate`.')];
  const missing = await missingColumns(em);
  if (missing.length === 0) return [ok('the schema is up to date')];
  const names = `${missing.slice(0, NAMED_MAX).join(', ')}${missing.length > NAMED_MAX ? ' and others' : ''}`;
  return [
    fail(
      `all are recorded as done, and the database lacks ${names}`,
      'Somebody changed the schema, or a restore was not complete. Restore a backup, or add what is missing as docs/schema.sql has it.',
    ),
  ];
}

async function secretFindings(em: Em, secrets: AppSecrets | undefined): Promise<Finding[]> {
  const { ok, fail } = findingsAbout('secrets');
  if (!secrets) return [];
  if (await isUsableSecret(em, secrets)) return [ok('the database knows APP_SECRET')];
  return [
    fail(
      'the database does not know APP_SECRET: API and workers do not start with it',
      'Set the previous secret, or name it in APP_SECRETS_PREVIOUS. See "Rotating secrets" in docs/operations.md.',
    ),
  ];
}

/**
 * Warns when a pooler gives the transactions of one connection different sessions of PostgreSQL, as transaction pooling
 * does. Then settings of a session do not hold. Equal sessions prove nothing.
 * @param other an EntityManager with a connection of its own
 */
export async function sessionFindings(em: Em, other: Em): Promise<Finding[]> {
  const sessionOf = (of: Em) => queryOne(of, sql`select pg_backend_pid() as pid`, { pid: number });
  const before = await sessionOf(em);
  // A pooler gives this transaction the session that has just become free, so the next statement gets another one.
  await other.begin();
  try {
    await sessionOf(other);
    const after = await sessionOf(em);
    if (before?.pid === after?.pid) return [];
  } finally {
    await other.rollback();
  }
  const message = 'a pooler shares sessions between connections: limits of statements and transactions do not hold';
  return [
    findingsAbout('database sessions').warn(message, 'Use pool_mode = session. See "PgBouncer" in docs/operations.md.'),
  ];
}

/** Compares the clocks of this machine and the database, which is taken to answer in the middle of the round trip. */
async function clockFindings(em: Em): Promise<Finding[]> {
  const startedAt = Date.now();
  const row = await queryOne(em, sql`select clock_timestamp() as at`, { at: date });
  const endedAt = Date.now();
  if (!row) return [];
  const offMs = Math.round(Math.abs(row.at.getTime() - (startedAt + endedAt) / 2) - (endedAt - startedAt) / 2);
  return [judgeClock(Math.max(0, offMs))];
}

/** @param offMs the least possible difference of the two clocks */
export function judgeClock(offMs: number): Finding {
  const { ok, warn, fail } = findingsAbout('clock');
  if (offMs < CLOCK_WARN_MS) return ok('this machine and the database agree');
  const make = offMs < CLOCK_FAIL_MS ? warn : fail;
  const seconds = (offMs / 1_000).toFixed(1);
  return make(`this machine and the database are ${seconds} seconds apart`, 'Let NTP set the clocks of both.');
}

function sqlList(values: string[]) {
  return sql`select unnest(${values}::text[])`;
}

export interface DatabaseProbeOptions {
  databaseUrl: string;
  poolSize: number;
  secrets: AppSecrets | undefined;
  inboundDomain: string | undefined;
  shapingFile: string | undefined;
  tlsReportFrom: string | undefined;
}

/** Version, settings, connections, migrations, known secret, domains, traffic rules and clock of the database. */
export function databaseProbe(options: DatabaseProbeOptions): Probe {
  const { databaseUrl, poolSize, secrets, inboundDomain, shapingFile, tlsReportFrom } = options;
  return {
    area: 'database',
    async run() {
      const fault = await findDatabaseFault(databaseUrl);
      if (fault !== undefined) return [findingsAbout('database').fail(fault, 'Nothing works until this is corrected.')];
      const connect = () => createOrm({ databaseUrl, poolSize: 1, applicationName: 'everpost-doctor', limits: LIMITS });
      const [orm, other] = [await connect(), await connect()];
      try {
        const em = orm.em.fork();
        const row = await queryOne(em, sql`select current_setting('server_version') as version`, { version: text });
        const migrations = await migrationFindings(em);
        const isMigrated = migrations.every(({ level }) => level === 'ok');
        return [
          findingsAbout('database').ok(`PostgreSQL ${row?.version ?? ''}`),
          ...(await settingFindings(em)),
          ...(await connectionFindings(em, poolSize)),
          ...migrations,
          ...(isMigrated ? await secretFindings(em, secrets) : []),
          ...(isMigrated ? await httpWebhookFindings(em) : []),
          ...(isMigrated ? await domainFindings(em, inboundDomain) : []),
          ...(isMigrated ? await reportFindings(em, tlsReportFrom) : []),
          ...(isMigrated ? await shapingFindings(em, shapingFile) : []),
          ...(await hiddenSessionFindings(em)),
          // Where a second connection is refused, the findings about connections say so.
          ...(await sessionFindings(em, other.em.fork()).catch(() => [])),
          ...(await clockFindings(em)),
        ];
      } finally {
        await Promise.all([orm.close(), other.close()]);
      }
    },
  };
}
