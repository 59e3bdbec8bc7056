import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { IsolationLevel, type SqlEntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery } from 'kysely';
import { isConflict } from './database-errors.ts';
import { answerTimeoutMs } from './session-limits.ts';
import { number, type RowOf, type Shape } from './shape.ts';

/** A unit of work. Each request or activity call forks one and passes it on. */
export type Em = SqlEntityManager;

/**
 * A piece of SQL with `?` where a bound parameter goes. Fragments nest in the `sql` tag. Values of a request always
 * become parameters, never text. It is a class, so that no value from JSON can pass for one.
 */
export class SqlFragment {
  readonly #isFragment = true;
  readonly sql: string;
  readonly params: unknown[];

  constructor(text: string, params: unknown[] = []) {
    this.sql = text;
    this.params = params;
  }

  static is(value: unknown): value is SqlFragment {
    return typeof value === 'object' && value !== null && #isFragment in value;
  }
}

/** Builds a fragment: nested fragments are spliced in, every other value becomes a bound parameter. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): SqlFragment {
  let text = strings[0] ?? '';
  const params: unknown[] = [];
  values.forEach((value, index) => {
    if (SqlFragment.is(value)) {
      text += value.sql;
      params.push(...value.params);
    } else {
      text += '?';
      params.push(value);
    }
    text += strings[index + 1] ?? '';
  });
  return new SqlFragment(text, params);
}

/** Joins fragments with a fixed separator such as ` and `. */
export function joinSql(fragments: SqlFragment[], separator: string): SqlFragment {
  return new SqlFragment(
    fragments.map((fragment) => fragment.sql).join(separator),
    fragments.flatMap((fragment) => fragment.params),
  );
}

/** The name of a table or a column in SQL: `toAddress` is `to_address`. */
export function inSql(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * The columns of a shape that are columns of one table, for a select or `returning`: `e.id, e.to_address as "toAddress"`.
 * @param alias of the table, where its name would be ambiguous
 */
export function columnsOf(shape: Shape, alias?: string): SqlFragment {
  const columns = Object.entries(shape).map(([name, { origin = '' }]) => {
    const column = inSql(origin.replace(/^.*\./, ''));
    return `${alias === undefined ? '' : `${alias}.`}${column}${column === name ? '' : ` as "${name}"`}`;
  });
  return new SqlFragment(columns.join(', '));
}

/**
 * Constants of the code as a list such as `('RUNNING', 'WAITING')`. They are text, not a parameter, so that PostgreSQL
 * can use a partial index with that condition.
 */
export function literalList(constants: readonly string[]): SqlFragment {
  if (!constants.every((constant) => /^[\w.]+$/.test(constant))) throw new TypeError('not constants of the code');
  return new SqlFragment(`(${constants.map((constant) => `'${constant}'`).join(', ')})`);
}

/** A text that PostgreSQL can store: U+FFFD takes the place of NUL and of half a surrogate pair, as in `json`. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * Marks a JavaScript value as JSON: the driver would bind an array as a PostgreSQL array otherwise. PostgreSQL stores
 * neither NUL nor half of a surrogate pair, which is what a text may end in that was cut; U+FFFD takes their place.
 */
export function json(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u')) return text;
  // Escapes are read pair by pair, so a literal backslash before "u0000" is not taken for an escape.
  return text.replace(/\\(?:u0000|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g, (escape) =>
    escape.length === 6 ? '\\ufffd' : escape,
  );
}

function numberPlaceholders(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => `$${++count}`);
}

interface Statement {
  text: string;
  /** The driver prepares the statement under this name; it does not prepare a statement without one. */
  name?: string;
}

/**
 * Units of work with a statement limit of their own, and how long the driver waits for their answers, in milliseconds.
 */
const answerTimeouts = new WeakMap<Em, number>();

/** Compares the rows of a statement with its shape. */
type RowCheck = (rows: readonly object[], shape: Shape) => void;
let checkRows: RowCheck | undefined;

/** Has every further result compared with its shape, in tests. */
export function setRowCheck(check: RowCheck): void {
  checkRows = check;
}

/** One statement outside of a transaction is undone as a whole, so it can be repeated as transactions are. */
async function run(em: Em, statement: Statement, params: unknown[], shape?: Shape): Promise<object[]> {
  const answerMs = answerTimeouts.get(em);
  const hasOptions = statement.name !== undefined || answerMs !== undefined;
  // The driver takes an object in place of text; Kysely's types know only text, but it passes the object on.
  const text = hasOptions ? ({ ...statement, answerMs } as unknown as string) : statement.text;
  const compiled = CompiledQuery.raw(text, params);
  const execute = async () => (await em.getKysely().executeQuery(compiled)).rows as object[];
  const rows = await (em.isInTransaction() ? execute() : repeatOnConflict(execute));
  if (shape) checkRows?.(rows, shape);
  return rows;
}

/**
 * Runs a statement with bound parameters, in the transaction of `em` if it has one. Columns come back as the driver
 * reads them; timestamps as Date.
 * @param shape the columns of the rows, when the caller wants rows
 */
export async function query(em: Em, fragment: SqlFragment): Promise<void>;
export async function query<S extends Shape>(em: Em, fragment: SqlFragment, shape: S): Promise<RowOf<S>[]>;
export async function query(em: Em, fragment: SqlFragment, shape?: Shape): Promise<unknown> {
  return run(em, { text: numberPlaceholders(fragment.sql) }, fragment.params, shape);
}

/**
 * As `query`, for statements of the hot paths whose text is always the same. Each connection parses and plans them
 * once, because parsing and planning cost twice as much as running. Text that depends on the request does not belong
 * here: every variant stays in the memory of every connection.
 */
export async function queryPrepared(em: Em, fragment: SqlFragment): Promise<void>;
export async function queryPrepared<S extends Shape>(em: Em, fragment: SqlFragment, shape: S): Promise<RowOf<S>[]>;
export async function queryPrepared(em: Em, fragment: SqlFragment, shape?: Shape): Promise<unknown> {
  const statement = prepared.get(fragment.sql) ?? prepare(fragment.sql);
  return run(em, statement, fragment.params, shape);
}

/** The prepared statements by their texts with `?`, which are few. */
const prepared = new Map<string, Statement>();

function prepare(sqlText: string): Statement {
  const text = numberPlaceholders(sqlText);
  const statement = { name: hash('sha1', text, 'base64url'), text };
  prepared.set(sqlText, statement);
  return statement;
}

/** As `query`, for a statement that returns at most one row. */
export async function queryOne<S extends Shape>(
  em: Em,
  fragment: SqlFragment,
  shape: S,
): Promise<RowOf<S> | undefined> {
  const rows = await query(em, fragment, shape);
  return rows[0];
}

/** The UTC day on which the transaction began. */
export const TODAY = sql`(now() at time zone 'UTC')::date`;

/** The number in the column `count` of the one row that a statement returns. */
export async function queryCount(em: Em, fragment: SqlFragment): Promise<number> {
  return (await queryOne(em, fragment, { count: number }))?.count ?? 0;
}

/**
 * Lets the further statements of a transaction take up to `statementMs`, whatever its session allows: more for
 * background work that reads a large part of a table, less for statements that others wait for.
 */
export async function limitStatements(tx: Em, statementMs: number): Promise<void> {
  await query(tx, sql`select set_config('statement_timeout', ${String(statementMs)}, true)`);
  answerTimeouts.set(tx, answerTimeoutMs(statementMs));
}

/**
 * A select that limits each wait for a lock until the end of the transaction, for a materialized CTE that the statement
 * joins.
 * @param lockMs in milliseconds; the limit of the session stays when undefined
 */
export function lockTimeoutSelect(lockMs: number | undefined): SqlFragment {
  const timeout = lockMs === undefined ? null : String(lockMs);
  return sql`select set_config('lock_timeout', coalesce(${timeout}, current_setting('lock_timeout')), true)`;
}

/** The last part of a statement that is undone as a whole, with an error of `isUnmet`, unless a condition holds. */
export function selectIf(condition: SqlFragment): SqlFragment {
  return sql`select 1 / (${condition})::int as met`;
}

/** A moment as ISO 8601 text in UTC, in the form of JavaScript's `toISOString`, which events and responses use. */
export function isoText(moment: SqlFragment): SqlFragment {
  return sql`to_char((${moment}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Escapes `%`, `_` and `\` of a search text, so that they match literally. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

const REPEATS_MAX = 3;
/** Longest pause before the first repetition; it doubles for each further one. */
const PAUSE_MS = 20;

/**
 * Runs work that PostgreSQL undoes as a whole when it fails, and repeats it after a deadlock or a serialization
 * failure. The pauses are random, so that the same transactions do not meet again.
 */
export async function repeatOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work();
    } catch (error) {
      if (repeats === REPEATS_MAX || !isConflict(error)) throw error;
      await delay(Math.random() * PAUSE_MS * 2 ** repeats);
    }
  }
}

/**
 * Runs work in a transaction: the one of `em` if it has one, else a new one, which is repeated after a deadlock or a
 * serialization failure. So the work must be repeatable: outside of the database it must set values, not add to them,
 * and nothing outside may depend on a run that has not been committed.
 *
 * **Lock order.** Transactions that take locks on several rows take them in this order, so that they wait for each
 * other in turn and do not meet in a deadlock:
 *
 * 1. the reply address that something new uses; the keys of submitted messages;
 * 2. job, segment, automation (the row that stands for the whole piece of work);
 * 3. executions, by id;
 * 4. contacts, by address (`IN_LOCK_ORDER`), because upserts know only the address; then their opt-ins;
 * 5. fields of the catalogue, by key;
 * 6. campaign pages;
 * 7. emails, by id;
 * 8. campaigns, by id;
 * 9. waits for events, by execution: `everpost_end_waits` takes them in statements that record events;
 * 10. suppressions, by address;
 * 11. outbox rows, with `skip locked`.
 *
 * Work that finds a row too late for this order, such as the contact of an email, locks it earlier with a statement of
 * its own, as `lockRecipients` does. A statement that locks rows and changes them may see versions from before the lock.
 * It then waits for transactions that wait for this one.
 */
export async function inTransaction<T>(em: Em, work: (tx: Em) => Promise<T>): Promise<T> {
  if (em.isInTransaction()) {
    const result = await work(em);
    await em.flush();
    return result;
  }
  return repeatOnConflict(() => em.transactional(work));
}

/**
 * Runs work in a part of the caller's transaction that is undone alone.
 * @returns undefined when it was undone, because of an error that is expected
 */
export async function inSavepoint<T>(
  tx: Em,
  work: () => Promise<T>,
  isExpected: (error: unknown) => boolean,
): Promise<T | undefined> {
  await query(tx, sql`savepoint part`);
  try {
    return await work();
  } catch (error) {
    if (!isExpected(error)) throw error;
    await query(tx, sql`rollback to savepoint part`);
    return undefined;
  }
}

/**
 * Runs statements that read, in one snapshot: what one of them sees, the others see, whatever is written meanwhile. Nothing
 * that only reads meets a conflict, so it is never repeated, and may write to a stream.
 */
export function inSnapshot<T>(em: Em, work: (tx: Em) => Promise<T>): Promise<T> {
  return em.transactional(work, { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
}
