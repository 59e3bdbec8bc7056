import { validationError, type AppError } from '../pure/app-error.ts';
import { FORMULA_AFTER_APOSTROPHES } from '../pure/formula.ts';
import { inSnapshot, isoText, joinSql, query, sql, SqlFragment, type Em } from './sql.ts';
import { number, text, type RowOf, type Shape } from './shape.ts';

export const EXPORT_FORMATS = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A column of an export. */
export interface ExportColumn {
  /** Its key in JSON lines, and its name in the header of a CSV file. */
  name: string;
  /** Its name in the header of a CSV file, where that is another. */
  header?: string;
  value: SqlFragment;
  /** `word`: a text without quotes, such as an id; `number`: a number or a boolean. */
  kind: 'text' | 'word' | 'moment' | 'number' | 'json';
}

/** The error for a column that does not exist. */
export function unknownColumn(name: string, known: readonly string[]): AppError {
  const message = `There is no column "${name}"; there are ${known.join(', ')}`;
  return validationError([{ field: 'columns', message, code: 'unknown_column', received: name }]);
}

/** The columns that a caller wants, in its order; all when it names none. @throws AppError VALIDATION_ERROR */
export function chosenColumns(known: readonly ExportColumn[], wanted: readonly string[] | undefined): ExportColumn[] {
  const names = known.map(({ name }) => name);
  return (wanted ?? names).map((name) => {
    const found = known.find((column) => column.name === name);
    if (!found) throw unknownColumn(name, names);
    return found;
  });
}

/** Octets of a piece, and one row. */
const PIECE_BYTES = 1_048_576;
/** What a piece of an export may hold in memory: its rows as the driver read them, and as text. */
export const EXPORT_MEMORY_BYTES = 4 * PIECE_BYTES;
/** The first page is small, because rows may be large. */
const ROWS_FIRST = 100;
const ROWS_MAX = 2_000;

const quoted = (value: SqlFragment): SqlFragment => sql`'"' || replace(${value}, '"', '""') || '"'`;

/**
 * A cell (RFC 4180). An apostrophe is put before a text that a spreadsheet would run as a formula. An import takes it
 * off again.
 */
function csvCell({ value, kind }: ExportColumn): SqlFragment {
  if (kind === 'text')
    return sql`coalesce(${quoted(sql`case when ${value} ~ ${FORMULA_AFTER_APOSTROPHES} then '''' else '' end || ${value}`)}, '')`;
  if (kind === 'json') return sql`coalesce(${quoted(sql`(${value})::text`)}, '')`;
  return sql`coalesce(${kind === 'moment' ? isoText(value) : sql`(${value})::text`}, '')`;
}

function jsonCell({ name, value, kind }: ExportColumn): SqlFragment {
  const key = sql`${`${JSON.stringify(name)}:`}::text`;
  const texts = {
    text: sql`to_json(${value})::text`,
    word: sql`'"' || (${value})::text || '"'`,
    moment: sql`'"' || ${isoText(value)} || '"'`,
    number: sql`(${value})::text`,
    json: sql`(${value})::text`,
  };
  return sql`${key} || coalesce(${texts[kind]}, 'null')`;
}

/** A row of an export as text without its line end, for the list of a select. */
function lineOf(columns: readonly ExportColumn[], format: ExportFormat): SqlFragment {
  const cells = columns.map(format === 'csv' ? csvCell : jsonCell);
  const line = joinSql(cells, ` || ',' || `);
  return format === 'csv' ? line : sql`'{' || ${line} || '}'`;
}

/** Where an export reads its rows. */
export interface ExportSource<Position extends Shape> {
  columns: readonly ExportColumn[];
  /** The columns by which the next page finds its begin, selected by `page`. */
  position: Position;
  /**
   * A select of the rows of a page in their order.
   * @param tx where it is run, for what it has to read before
   * @param columns what it selects of each row
   * @param after the last row of the page before
   */
  page: (
    tx: Em,
    columns: SqlFragment,
    after: RowOf<Position> | undefined,
    limit: number,
  ) => Promise<SqlFragment> | SqlFragment;
  /** A page that is not full ends the export, unless this knows where its search ended. */
  searchedUpTo?: (tx: Em, after: RowOf<Position> | undefined) => Promise<RowOf<Position> | undefined>;
}

/** What a page holds beside the position of its last row: its text, how many rows are in it, and how many there were. */
const PIECE = { lines: text, read: number, found: number };

/** The text of a page, and where the next one begins. */
interface ReadPiece<Row> {
  lines: string;
  next: { after: Row; limit: number } | undefined;
}

/**
 * The text of an export, a piece for each page of rows. PostgreSQL writes the lines, which takes a fraction of the time
 * of making objects of them. Each page has a snapshot of its own and begins after the last row of the page before. So no
 * row that exists all the time is lost or comes twice, and a slow reader holds neither a connection nor a snapshot. While
 * the reader has a piece, the next one is read.
 * @param fork creates the unit of work of a page
 */
export async function* exportPieces<Position extends Shape>(
  fork: () => Em,
  { columns, position, page, searchedUpTo }: ExportSource<Position>,
  format: ExportFormat,
): AsyncGenerator<string> {
  const lineEnd = format === 'csv' ? '\r\n' : '\n';
  const shape = { ...position, ...PIECE };
  const names = Object.keys(position).map((name) => new SqlFragment(`"${name}"`));

  async function readFrom(
    tx: Em,
    after: RowOf<Position> | undefined,
    limit: number,
  ): Promise<ReadPiece<RowOf<Position>>> {
    const rows = await page(tx, sql`${lineOf(columns, format)} as line`, after, limit);
    const [piece] = await query(
      tx,
      sql`
        with piece as materialized (
          select * from (
            select *, count(*) over () as found,
              sum(octet_length(line)) over (rows unbounded preceding) - octet_length(line) as before
            from (select *, row_number() over () as read from (${rows}) r) r
          ) r where before < ${PIECE_BYTES}::int
        )
        select *, (select string_agg(line, ${lineEnd}) from piece) as lines
        from (select ${joinSql(names, ', ')}, found, read from piece order by read desc limit 1) last`,
      shape,
    );
    const { lines = '', read: count = 0, found = 0 } = piece ?? {};
    const last = found >= limit || found > count ? piece : await searchedUpTo?.(tx, after);
    return {
      lines: lines && lines + lineEnd,
      next: last && { after: last, limit: Math.min(ROWS_MAX, 2 * (found > count ? count : limit)) },
    };
  }

  const read = (after: RowOf<Position> | undefined, limit: number) =>
    inSnapshot(fork(), (tx) => readFrom(tx, after, limit));

  if (format === 'csv') {
    yield columns.map(({ name, header = name }) => `"${header.replaceAll('"', '""')}"`).join(',') + lineEnd;
  }
  let reading: Promise<ReadPiece<RowOf<Position>>> | undefined = read(undefined, ROWS_FIRST);
  while (reading) {
    const { lines, next }: ReadPiece<RowOf<Position>> = await reading;
    reading = next && read(next.after, next.limit);
    // Its fault is that of the next piece, which a reader that has left does not ask for.
    reading?.catch(() => undefined);
    yield lines;
  }
}
