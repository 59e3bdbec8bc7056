import pg from 'pg';
import type { Column, Kind, Shape } from '../../shared/database/shape.ts';
import { setRowCheck } from '../../shared/database/sql.ts';
import { tables } from '../../shared/database/tables.ts';

/*
 * Compares the result of every statement with its shape (`shared/database/shape.ts`): the names and types of its
 * columns, the column of a table that each of them is, and whether a value is null. Processes of tests load it.
 */

/** The ids of PostgreSQL's types that the driver returns as a kind. */
const TYPE_IDS: Record<Kind, readonly number[]> = {
  text: [18, 19, 25, 1043, 2205, 2950],
  number: [20, 21, 23, 26, 700, 701],
  boolean: [16],
  date: [1082, 1184],
  bytes: [17],
  texts: [1009, 2951],
  numbers: [1005, 1007],
  json: [114, 3802],
};

interface Origin {
  /** Such as `email.status`. */
  name: string;
  isNullable: boolean;
}

interface Field {
  typeId: number;
  /** The column of a table that it is. */
  origin: Origin | undefined;
}

type DriverQuery = (this: pg.Client, ...args: unknown[]) => unknown;
const driverQuery = Reflect.get(pg.Client.prototype, 'query') as DriverQuery;

/** What the driver said of the columns of a result, by its rows. */
const fieldsOf = new WeakMap<readonly object[], Map<string, Field>>();
const origins = new Map<string, Origin | undefined>();

const camelCase = (name: string) => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const keyOf = (table: number, column: number) => `${table} ${column}`;

/** Learns the columns of a table. No other table of the server has its id; that of a clone has the same columns. */
async function learn(client: pg.Client, { tableID, columnID }: pg.FieldDef): Promise<void> {
  const { rows } = (await driverQuery.call(
    client,
    `select relname as table, attname as column, attnum as no, not attnotnull as "isNullable" from pg_attribute join pg_class c on c.oid = attrelid
     where attrelid = ${tableID} and relnamespace = 'public'::regnamespace`,
  )) as pg.QueryResult<{ table: string; column: string; no: number; isNullable: boolean }>;
  origins.set(keyOf(tableID, columnID), undefined);
  for (const { table, column, no, isNullable } of rows) {
    if (!(camelCase(table) in tables)) continue;
    origins.set(keyOf(tableID, no), { name: `${camelCase(table)}.${camelCase(column)}`, isNullable });
  }
}

async function remember(client: pg.Client, result: unknown): Promise<unknown> {
  const { rows, fields } = (result ?? {}) as Partial<pg.QueryResult<object>>;
  if (!rows || !fields) return result;
  const known = new Map<string, Field>();
  for (const field of fields) {
    const key = keyOf(field.tableID, field.columnID);
    if (field.tableID !== 0 && !origins.has(key)) await learn(client, field);
    known.set(field.name, { typeId: field.dataTypeID, origin: origins.get(key) });
  }
  fieldsOf.set(rows, known);
  return result;
}

type Row = Record<string, unknown>;

function faultOf(of: Column<unknown> | undefined, field: Field | undefined, name: string, rows: readonly Row[]) {
  if (!of) return 'is returned, but not in the shape';
  if (!field) return 'is in the shape, but not returned';
  if (!TYPE_IDS[of.kind].includes(field.typeId)) return `has the type ${field.typeId}, which is not ${of.kind}`;
  const { origin } = field;
  // The statement may choose between tables. Then a kind alone says enough, unless the schema says more.
  const isKnown = origin === undefined || origin.name === of.origin;
  if (!isKnown && (of.origin ?? (of.kind === 'json' || (origin.isNullable && !of.isNullable)))) {
    return `is tables.${origin.name}`;
  }
  if (!of.isNullable && rows.some((row) => row[name] === null)) return 'is null';
  const known = of.values;
  const other = known && rows.find(({ [name]: value }) => typeof value === 'string' && !known.includes(value));
  return other && `is ${JSON.stringify(other[name])}, which is not in its list`;
}

function checkRows(rows: readonly object[], shape: Shape): void {
  const fields = fieldsOf.get(rows);
  if (!fields) throw new TypeError('The driver told nothing of the columns of a result.');
  for (const name of new Set([...Object.keys(shape), ...fields.keys()])) {
    const fault = faultOf(shape[name], fields.get(name), name, rows as readonly Row[]);
    if (fault) throw new TypeError(`The column ${name} of a statement ${fault}.`);
  }
}

pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const done = args.at(-1);
  if (typeof done === 'function') {
    const tell = done as (error: unknown, told?: unknown) => void;
    const remembering = (error: unknown, told: unknown): void => {
      if (error) tell(error);
      else remember(this, told).then((known) => tell(null, known), tell);
    };
    return driverQuery.apply(this, [...args.slice(0, -1), remembering]);
  }
  const result = driverQuery.apply(this, args);
  return result instanceof Promise ? result.then((told) => remember(this, told)) : result;
} as typeof pg.Client.prototype.query;
setRowCheck(checkRows);
