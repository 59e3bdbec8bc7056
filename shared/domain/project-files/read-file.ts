import { createHash } from 'node:crypto';
import { badRequest } from '../../pure/app-error.ts';
import { inSql } from '../../database/sql.ts';
import { columnsInSql, PROJECT_TABLES, type TableName } from './project-tables.ts';
import { FILE_FORMAT, type FileEnd, type Manifest } from './export-project.ts';

/** Rows and octets of a part, or one row. */
const PART_ROWS = 1_000;
const PART_BYTES = 4_194_304;

/** Some rows of a table, as lines of JSON. */
export interface FilePart {
  table: TableName;
  /** The columns of its rows in SQL; this version may have more. */
  columns: string[];
  lines: string[];
}

/** The lines of a stream of octets with their line ends. */
async function* linesIn(octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  for await (const chunk of octets) {
    let at = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      pieces.push(chunk.subarray(at, end + 1));
      yield pieces.length === 1 ? (pieces[0] ?? chunk) : Buffer.concat(pieces);
      pieces = [];
      at = end + 1;
    }
    if (at < chunk.length) pieces.push(chunk.subarray(at));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

const isControl = (line: Buffer): boolean => line[0] === 0x23;

function parseControl(line: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(line.subarray(1).toString()) as Record<string, unknown>;
  } catch {
    throw badRequest('The file is damaged: a line between its tables is not JSON');
  }
}

/** @throws AppError BAD_REQUEST when it is no file of a project, or of another version */
function manifestOf(line: Buffer | undefined): Manifest {
  const manifest = line && isControl(line) ? parseControl(line) : undefined;
  if (manifest?.['everpost'] !== 'project') {
    throw badRequest('This is no file that `everpost project export` has written');
  }
  if (manifest['format'] === FILE_FORMAT) return manifest as unknown as Manifest;
  throw badRequest(`The file has the format ${String(manifest['format'])}, and this version reads ${FILE_FORMAT} only`);
}

function newPart({ table, columns }: Record<string, unknown>): FilePart {
  const name = String(table);
  if (!(name in PROJECT_TABLES) || !Array.isArray(columns)) {
    throw badRequest(`The file has the table ${name}, which this version does not know`);
  }
  const known = columnsInSql(name as TableName);
  const unknown = columns.map(inSql).filter((column) => !known.includes(column));
  if (unknown.length === 0) return { table: name as TableName, columns: columns.map(inSql), lines: [] };
  throw badRequest(`The file has columns of ${name} that this version does not know: ${unknown.join(', ')}`);
}

/** Opens the file of a project. The end is known when all parts have been read. */
export async function openProjectFile(octets: AsyncIterable<Buffer>) {
  const lines = linesIn(octets);
  const sum = createHash('sha256');
  const { value: first } = (await lines.next()) as IteratorResult<Buffer, undefined>;
  const manifest = manifestOf(first);
  if (first) sum.update(first);
  const rows: Partial<Record<TableName, number>> = {};
  let isComplete = false;

  function end({ rows: counts, sha256 }: FileEnd): void {
    if (sha256 !== sum.digest('hex')) throw badRequest('The file is damaged: its checksum does not fit');
    const differs = Object.entries(counts).find(([name, count]) => (rows[name as TableName] ?? 0) !== count);
    if (differs) throw badRequest(`The file is damaged: it should have ${differs[1]} rows of ${differs[0]}`);
    isComplete = true;
  }

  async function* parts(): AsyncGenerator<FilePart> {
    let part: FilePart | undefined;
    let bytes = 0;
    for await (const line of lines) {
      if (isComplete) throw badRequest('The file is damaged: it goes on after its end');
      const control = isControl(line) ? parseControl(line) : undefined;
      if (part && part.lines.length > 0 && (control || part.lines.length >= PART_ROWS || bytes >= PART_BYTES)) {
        yield part;
        part = { ...part, lines: [] };
        bytes = 0;
      }
      if (control && 'sha256' in control) {
        end(control as unknown as FileEnd);
        continue;
      }
      sum.update(line);
      if (control) part = newPart(control);
      else if (part) {
        part.lines.push(line.toString('utf8'));
        bytes += line.length;
        rows[part.table] = (rows[part.table] ?? 0) + 1;
      }
    }
    if (!isComplete) throw badRequest(`The file ends in the middle${part ? `, at the rows of ${part.table}` : ''}`);
  }

  return { manifest, rows, parts: parts() };
}
