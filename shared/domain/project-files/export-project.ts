import { hash, createHash } from 'node:crypto';
import { inSql, query, queryOne, sql, SqlFragment, type Em } from '../../database/sql.ts';
import { tables, text } from '../../database/tables.ts';
import { findProject } from '../projects/projects.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import { tablesOfFile, type TableName } from './project-tables.ts';

/** The version of the format. A file of another version is not imported. */
export const FILE_FORMAT = 1;

/** The first line of a file. */
export interface Manifest {
  everpost: 'project';
  format: number;
  /** The migrations of the installation that wrote it. */
  schema: string[];
  project: { id: string; name: string };
  exportedAt: string;
  /** Which key hashes the addresses of erased people, and the key itself if it was asked for. */
  addressKey: { id: string; pads?: [inner: string, outer: string] };
}

/** The last line: what must have come before it. */
export interface FileEnd {
  rows: Partial<Record<TableName, number>>;
  /** SHA-256 of all octets before this line, hex. */
  sha256: string;
}

const CURSOR = sql`everpost_project_rows`;

/** The address key of an installation. */
export async function addressKeyOf(em: Em): Promise<{ id: string; pads: [string, string] }> {
  const key = await queryOne(
    em,
    sql`select encode(inner_pad, 'hex') as inner, encode(outer_pad, 'hex') as outer from address_hash_key`,
    { inner: text, outer: text },
  );
  const pads: [string, string] = [key?.inner ?? '', key?.outer ?? ''];
  return { id: hash('sha256', pads.join('')).slice(0, 16), pads };
}

/** The rows of a table as lines of JSON, some at a time. A cursor reads them once, however many there are. */
async function* linesOf(tx: Em, name: TableName, belongs: SqlFragment, rowsPerPart: number): AsyncGenerator<string[]> {
  const table = new SqlFragment(inSql(name));
  await query(
    tx,
    sql`declare ${CURSOR} no scroll cursor for select row_to_json(r)::text as line from ${table} r where ${belongs}`,
  );
  for (;;) {
    const rows = await query(tx, sql`fetch forward ${new SqlFragment(String(rowsPerPart))} from ${CURSOR}`, {
      line: text,
    });
    if (rows.length > 0) yield rows.map(({ line }) => line);
    if (rows.length < rowsPerPart) break;
  }
  await query(tx, sql`close ${CURSOR}`);
}

/**
 * The file of a project, line by line: the manifest, for each table a line with its name and then a line of JSON for each
 * row, and an end with counts and a checksum. Lines that are no row begin with #.
 * @param tx a transaction that reads one snapshot
 * @param withAddressKey whether the file has the key that hashes the addresses of erased people
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function* projectFile(tx: Em, projectId: string, withAddressKey: boolean): AsyncGenerator<string> {
  const { id, name } = await findProject(tx, projectId);
  const { pads, ...addressKey } = await addressKeyOf(tx);
  const manifest: Manifest = {
    everpost: 'project',
    format: FILE_FORMAT,
    schema: MIGRATIONS.map((migration) => migration.name),
    project: { id, name },
    exportedAt: new Date().toISOString(),
    addressKey: { ...addressKey, ...(withAddressKey && { pads }) },
  };
  const sum = createHash('sha256');
  const rows: FileEnd['rows'] = {};
  const summed = (lines: string): string => {
    sum.update(lines);
    return lines;
  };
  yield summed(`#${JSON.stringify(manifest)}\n`);
  for (const [table, { belongs, rowsPerPart }] of tablesOfFile()) {
    yield summed(`#${JSON.stringify({ table, columns: Object.keys(tables[table]) })}\n`);
    let count = 0;
    for await (const lines of linesOf(tx, table, belongs(projectId), rowsPerPart)) {
      count += lines.length;
      yield summed(`${lines.join('\n')}\n`);
    }
    rows[table] = count;
  }
  const end: FileEnd = { rows, sha256: sum.digest('hex') };
  yield `#${JSON.stringify(end)}\n`;
}
