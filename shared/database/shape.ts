import type { ColumnTypes } from './column-types.ts';

/*
 * A statement says beside its text which columns it returns: `query(em, sql`select id, count(*) as total …`,
 * { id: tables.email.id, total: number })`. The type of its rows follows from this shape. Tests compare every result
 * with its shape (`tests/setup/checked-rows.ts`); otherwise nothing reads it, so it costs nothing.
 */

/** What the driver makes of a value. */
export type Kind = 'text' | 'number' | 'boolean' | 'date' | 'bytes' | 'texts' | 'numbers' | 'json';

declare const VALUE: unique symbol;

/** A column of a result, whose values have the type `Value` in TypeScript. */
export interface Column<out Value> {
  readonly kind: Kind;
  readonly isNullable: boolean;
  /** The column of a table that it is, such as `email.status`; none for an expression. */
  readonly origin?: string;
  /** All values that a text may have. */
  readonly values?: readonly string[];
  /** Exists for the compiler only. */
  readonly [VALUE]: Value;
}

export type Shape = Readonly<Record<string, Column<unknown>>>;

/** The type of the rows of a statement with this shape. */
export type RowOf<S extends Shape> = { -readonly [Name in keyof S]: S[Name][typeof VALUE] };

function column<Value>(kind: Kind, values?: readonly string[]): Column<Value> {
  return { kind, isNullable: false, ...(values && { values }) } as Column<Value>;
}

export const text = column<string>('text');
export const number = column<number>('number');
export const boolean = column<boolean>('boolean');
export const date = column<Date>('date');
export const bytes = column<Buffer>('bytes');
export const texts = column<string[]>('texts');
export const numbers = column<number[]>('numbers');

/** JSON that the statement itself makes. JSON of a table has its type in `ColumnTypes`. */
export function jsonAs<Value = unknown>(): Column<Value> {
  return column('json');
}

/** One of a few texts. */
export function oneOf<const Value extends string>(...values: readonly Value[]): Column<Value> {
  return column('text', values);
}

/** The column as an outer join or an aggregate returns it, which may be null. */
export function nullable<Value>(of: Column<Value>): Column<Value | null> {
  return { ...of, isNullable: true };
}

/** The column of a statement whose condition excludes null. */
export function notNull<Value>(of: Column<Value>): Column<NonNullable<Value>> {
  return { ...of, isNullable: false } as Column<NonNullable<Value>>;
}

/** Some columns of a table. */
export function pick<S extends Shape, Name extends keyof S & string>(of: S, ...names: Name[]): Pick<S, Name> {
  return Object.fromEntries(names.map((name) => [name, of[name]])) as Pick<S, Name>;
}

/** JSON of a table that has no type yet: name the type in `ColumnTypes`. */
interface Unnamed {
  readonly [VALUE]: never;
}
export const jsonb = column<Unnamed>('json');

type TableOf<Table extends string, S extends Shape> = {
  readonly [Name in keyof S & string]: `${Table}.${Name}` extends keyof ColumnTypes
    ? Column<ColumnTypes[`${Table}.${Name}`] | Extract<S[Name][typeof VALUE], null>>
    : S[Name];
};

/** Gives each column its origin, and the type that `ColumnTypes` names for it. */
export function schema<S extends Readonly<Record<string, Shape>>>(
  tables: S,
): { readonly [Table in keyof S & string]: TableOf<Table, S[Table]> } {
  const named = Object.entries(tables).map(([table, columns]) => [
    table,
    Object.fromEntries(Object.entries(columns).map(([name, of]) => [name, { ...of, origin: `${table}.${name}` }])),
  ]);
  return Object.fromEntries(named) as { [Table in keyof S & string]: TableOf<Table, S[Table]> };
}
