import pg from 'pg';
import { ConfigError } from '../../platform/config.ts';
import { errorCodes, errorMessage, isDatabaseUnavailable } from '../../database/database-errors.ts';

const ANSWER_MS = 5_000;
const VERSION_MIN = 150_000;

/** Codes of PostgreSQL for faults that an operator has to mend. */
const NO_DATABASE = '3D000';
const NO_LOGIN = ['28P01', '28000'];
const NO_RIGHT = '42501';
/** The driver's message when a URL lacks the password that the server asks for. */
const NO_PASSWORD = /^SASL: .*password must be/;
/** The first migration of unreleased versions, whose schemas differ from that of 0.1.0. */
const UNRELEASED = '20261121000000-initial';
const NO_TLS = /server does not support SSL|certificate|_CERT_|UNABLE_TO_VERIFY/i;

function connectTo(databaseUrl: string): pg.Client {
  try {
    return new pg.Client({
      connectionString: databaseUrl,
      application_name: 'everpost-start',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
  } catch {
    throw new ConfigError('DATABASE_URL is not a URL of PostgreSQL: postgres://user:password@host:5432/everpost');
  }
}

/** A description of a database URL for operators: `PostgreSQL at db:5432/everpost`. It holds no password. */
export function databaseName(databaseUrl: string): string {
  const { host, port, database = '' } = connectTo(databaseUrl);
  return `PostgreSQL at ${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

/** A fault of a database that waiting does not mend, as one sentence for an operator; undefined for other errors. */
export function permanentFault(databaseUrl: string, error: unknown): ConfigError | undefined {
  if (error instanceof ConfigError) return error;
  if (isDatabaseUnavailable(error)) return undefined;
  const where = databaseName(databaseUrl);
  const { user = '' } = connectTo(databaseUrl);
  const [codes, message] = [errorCodes(error), errorMessage(error)];
  const fault = (text: string) => new ConfigError(`${where}: ${text}`, { cause: error });
  if (codes.some((code) => NO_LOGIN.includes(code)) || NO_PASSWORD.test(message)) {
    return fault(`the user ${user} is not let in. Check user and password in DATABASE_URL, and pg_hba.conf.`);
  }
  if (codes.includes(NO_DATABASE)) return fault('there is no such database. Create it, or correct DATABASE_URL.');
  if (codes.includes(NO_RIGHT)) {
    return fault(`the user ${user} lacks a right (${message}). It has to own the database, or its schema.`);
  }
  if (NO_TLS.test([message, ...codes].join(' '))) return fault(`no TLS as DATABASE_URL asks for it (${message}).`);
  return undefined;
}

interface State {
  version: string;
  version_number: number;
  migrations_table: string | null;
  foreign_table: string | null;
}

/** `foreign_table` leaves out the tables of extensions, because an empty database may have them. */
const STATE = `
  select current_setting('server_version') as version, current_setting('server_version_num')::int as version_number,
    to_regclass(quote_ident(current_schema()) || '.mikro_orm_migrations')::text as migrations_table,
    (
      select c.relname from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
        and c.relname <> 'mikro_orm_migrations'
        and not exists (
          select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
        )
      order by c.relname limit 1
    ) as foreign_table`;

async function assertOwnSchema(client: pg.Client, where: string, known: readonly string[]): Promise<void> {
  const { rows } = await client.query<State>(STATE);
  const [state] = rows;
  if (!state) return;
  if (state.version_number < VERSION_MIN) {
    throw new ConfigError(`${where} is of version ${state.version}. Everpost needs PostgreSQL 15 or newer.`);
  }
  const applied =
    state.migrations_table === null
      ? []
      : (await client.query<{ name: string }>(`select name from ${state.migrations_table} order by id`)).rows;
  const names = applied.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.includes(UNRELEASED)) {
    throw new ConfigError(
      `${where} was made by a version of Everpost before 0.1.0, and its schema cannot be brought up to date. ` +
        'Start with a new, empty database.',
    );
  }
  if (unknown.length > 0 && unknown.length < names.length) {
    throw new ConfigError(
      `${where} has the schema of a newer version of Everpost (${unknown.at(-1) ?? ''}). ` +
        'Start that version, or a newer one.',
    );
  }
  if (unknown.length > 0 || (names.length === 0 && state.foreign_table !== null)) {
    throw new ConfigError(
      `${where} is not empty and not a database of Everpost (it has the table ${state.foreign_table ?? ''}). ` +
        'Name an empty database in DATABASE_URL.',
    );
  }
}

/**
 * Checks that Everpost can use a database: it exists, accepts the user, and is empty or has a schema of Everpost that
 * is not newer than this version.
 * @param known names of the migrations of this version
 * @throws ConfigError when Everpost cannot use it; the driver's error for any other fault
 */
export async function assertUsableDatabase(databaseUrl: string, known: readonly string[]): Promise<void> {
  const client = connectTo(databaseUrl);
  // A connection that breaks also rejects the pending call below.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await assertOwnSchema(client, databaseName(databaseUrl), known);
  } finally {
    // The end of the connection is not awaited, because the server may not answer.
    client.end().catch(() => undefined);
  }
}
