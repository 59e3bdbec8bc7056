import { query, sql } from '../shared/database/sql.ts';
import type { Em } from '../shared/database/em.ts';

interface Column {
  table: string;
  column: string;
  type: string;
  isNotNull: boolean;
  default: string | null;
}

interface Definition {
  table: string;
  name: string;
  definition: string;
}

/** The TypeScript types in which the driver returns PostgreSQL's types. Others are `unknown`. */
const TYPESCRIPT_TYPES: Record<string, string> = {
  uuid: 'string',
  text: 'string',
  boolean: 'boolean',
  smallint: 'number',
  integer: 'number',
  bigint: 'number',
  'double precision': 'number',
  real: 'number',
  bytea: 'Buffer',
};

function readColumns(em: Em): Promise<Column[]> {
  return query<Column>(
    em,
    sql`
      select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
        a.attnotnull as "isNotNull", pg_get_expr(d.adbin, d.adrelid) as default
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relkind in ('r', 'p') and c.relname <> 'mikro_orm_migrations'
      order by c.relname, a.attnum`,
  );
}

function readConstraints(em: Em): Promise<Definition[]> {
  return query<Definition>(
    em,
    sql`
      select c.relname as table, o.conname as name, pg_get_constraintdef(o.oid) as definition
      from pg_constraint o join pg_class c on c.oid = o.conrelid
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      where o.contype in ('p', 'u', 'f', 'c', 'x') and c.relname <> 'mikro_orm_migrations'
      order by c.relname, o.contype desc, o.conname`,
  );
}

function readIndexes(em: Em): Promise<Definition[]> {
  return query<Definition>(
    em,
    sql`
      select c.relname as table, i.relname as name, pg_get_indexdef(x.indexrelid) as definition
      from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      where not exists (select from pg_constraint o where o.conindid = x.indexrelid)
        and c.relname <> 'mikro_orm_migrations'
      order by c.relname, i.relname`,
  );
}

function readTriggers(em: Em): Promise<Definition[]> {
  return query<Definition>(
    em,
    sql`
      select c.relname as table, t.tgname as name, pg_get_triggerdef(t.oid) as definition
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      where not t.tgisinternal order by c.relname, t.tgname`,
  );
}

function readFunctions(em: Em): Promise<{ definition: string }[]> {
  return query<{ definition: string }>(
    em,
    sql`
      select pg_get_functiondef(p.oid) as definition
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace and n.nspname = 'public'
      where p.prokind = 'f' order by p.proname, pg_get_function_identity_arguments(p.oid)`,
  );
}

function tableText(table: string, columns: Column[], constraints: Definition[]): string {
  const lines = [
    ...columns.map(({ column, type, isNotNull, default: value }) =>
      [column, type, isNotNull && 'not null', value !== null && `default ${value}`].filter(Boolean).join(' '),
    ),
    ...constraints.map(({ name, definition }) => `constraint ${name} ${definition}`),
  ];
  return `create table ${table} (\n  ${lines.join(',\n  ')}\n);`;
}

function byTable<T extends { table: string }>(items: T[]): Map<string, T[]> {
  return Map.groupBy(items, ({ table }) => table);
}

/** The whole migrated schema as readable SQL: tables with their indexes and triggers, then functions. */
export async function describeSchema(em: Em): Promise<string> {
  const [columns, constraints, indexes, triggers] = [
    byTable(await readColumns(em)),
    byTable(await readConstraints(em)),
    byTable(await readIndexes(em)),
    byTable(await readTriggers(em)),
  ];
  const tables = [...columns].map(([table, tableColumns]) =>
    [
      tableText(table, tableColumns, constraints.get(table) ?? []),
      ...[...(indexes.get(table) ?? []), ...(triggers.get(table) ?? [])].map(
        ({ definition }) => `${definition.replaceAll('public.', '')};`,
      ),
    ].join('\n'),
  );
  const functions = (await readFunctions(em)).map(
    ({ definition }) =>
      `${definition
        .replaceAll('public.', '')
        .trim()
        .replaceAll(/[ \t]+$/gm, '')};`,
  );
  return ['-- Generated from the migrations by `npm run schema`. Do not edit.', ...tables, ...functions, ''].join(
    '\n\n',
  );
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function typescriptType({ type, isNotNull }: Column): string {
  const element = type.replace(/\[\]$/, '').replace(/\(.*\)/, '');
  const base = element.startsWith('timestamp') ? 'Date' : (TYPESCRIPT_TYPES[element] ?? 'unknown');
  const whole = type.endsWith('[]') ? `${base}[]` : base;
  return isNotNull || whole === 'unknown' ? whole : `${whole} | null`;
}

/** TypeScript types of the rows of every table, with camel-cased columns, as statements alias them. */
export async function describeRows(em: Em): Promise<string> {
  const tables = [...byTable(await readColumns(em))].map(([table, columns]) => {
    const fields = columns.map((column) => `    ${camelCase(column.column)}: ${typescriptType(column)};`);
    return `  ${table}: {\n${fields.join('\n')}\n  };`;
  });
  return [
    '// Generated from the migrations by `npm run schema`. Do not edit.',
    '',
    '/** Columns of each table, camel-cased as statements alias them. Code with a renamed column no longer compiles. */',
    `export interface Tables {\n${tables.join('\n')}\n}`,
    '',
    "/** Some columns of a table: `Row<'contact', 'id' | 'email'>`. */",
    'export type Row<Table extends keyof Tables, Column extends keyof Tables[Table]> = Pick<Tables[Table], Column>;',
    '',
  ].join('\n');
}
