import { boolean, nullable, text, type RowOf } from '../shared/database/shape.ts';
import { query, sql, type Em } from '../shared/database/sql.ts';

const COLUMN = { table: text, column: text, type: text, isNotNull: boolean, default: nullable(text) };
type Column = RowOf<typeof COLUMN>;

const DEFINITION = { table: text, name: text, definition: text };
type Definition = RowOf<typeof DEFINITION>;

/** What the driver makes of PostgreSQL's types (`shared/database/shape.ts`). */
const KINDS: Record<string, string> = {
  uuid: 'text',
  text: 'text',
  date: 'date',
  boolean: 'boolean',
  smallint: 'number',
  integer: 'number',
  bigint: 'number',
  'double precision': 'number',
  real: 'number',
  bytea: 'bytes',
  jsonb: 'jsonb',
  'text[]': 'texts',
  'uuid[]': 'texts',
};

function readColumns(em: Em): Promise<Column[]> {
  return query(
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
    COLUMN,
  );
}

function readConstraints(em: Em): Promise<Definition[]> {
  return query(
    em,
    sql`
      select c.relname as table, o.conname as name, pg_get_constraintdef(o.oid) as definition
      from pg_constraint o join pg_class c on c.oid = o.conrelid
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      where o.contype in ('p', 'u', 'f', 'c', 'x') and c.relname <> 'mikro_orm_migrations'
      order by c.relname, o.contype desc, o.conname`,
    DEFINITION,
  );
}

function readIndexes(em: Em): Promise<Definition[]> {
  return query(
    em,
    sql`
      select c.relname as table, i.relname as name, pg_get_indexdef(x.indexrelid) as definition
      from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      where not exists (select from pg_constraint o where o.conindid = x.indexrelid)
        and c.relname <> 'mikro_orm_migrations'
      order by c.relname, i.relname`,
    DEFINITION,
  );
}

function readTriggers(em: Em): Promise<Definition[]> {
  return query(
    em,
    sql`
      select c.relname as table, t.tgname as name, pg_get_triggerdef(t.oid) as definition
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      where not t.tgisinternal order by c.relname, t.tgname`,
    DEFINITION,
  );
}

function readFunctions(em: Em): Promise<{ definition: string }[]> {
  return query(
    em,
    sql`
      select pg_get_functiondef(p.oid) as definition
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace and n.nspname = 'public'
      where p.prokind = 'f' order by p.proname, pg_get_function_identity_arguments(p.oid)`,
    { definition: text },
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

/** The values that a constraint such as `CHECK ((status = ANY (ARRAY['SENT'::text, …])))` allows a column. */
function allowedValues({ table, column }: Column, checks: Definition[]): string[] {
  const start = `CHECK ((${column} = ANY (ARRAY['`;
  const check = checks.find((it) => it.table === table && it.definition.startsWith(start));
  return [...(check?.definition.matchAll(/'(\w+)'::text/g) ?? [])].map(([, value]) => `'${value}'`);
}

function shapeOf(column: Column, checks: Definition[]): string {
  const values = allowedValues(column, checks);
  const kind = KINDS[column.type] ?? (column.type.startsWith('timestamp') ? 'date' : undefined);
  if (kind === undefined) throw new Error(`${column.table}.${column.column} has a type without a kind: ${column.type}`);
  const [open, close] = column.isNotNull ? ['', ''] : ['nullable(', ')'];
  const field = `    ${camelCase(column.column)}: `;
  if (values.length === 0) return `${field}${open}${kind}${close},`;
  const line = `${field}${open}oneOf(${values.join(', ')})${close},`;
  return line.length <= 120 ? line : `${field}oneOf(\n${values.map((value) => `      ${value},\n`).join('')}    ),`;
}

/** The columns of every table, camel-cased as statements alias them, for `shared/database/tables.ts`. */
export async function describeRows(em: Em): Promise<string> {
  const checks = await readConstraints(em);
  const tables = [...byTable(await readColumns(em))].map(
    ([table, columns]) =>
      `  ${camelCase(table)}: {\n${columns.map((column) => shapeOf(column, checks)).join('\n')}\n  },\n`,
  );
  const used = [...new Set(Object.values(KINDS)), 'nullable', 'oneOf', 'schema'].sort();
  return `// Generated from the migrations by \`npm run schema\`. Do not edit.
import { ${used.join(', ')} } from './shape.ts';

export * from './shape.ts';

/** The columns of each table, for the shapes of statements. Code with a renamed column no longer compiles. */
export const tables = schema({
${tables.join('')}});
`;
}
