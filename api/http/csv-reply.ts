import { FORMULA } from '../../shared/pure/formula.ts';
import type { StreamedReply } from './streamed-reply.ts';

/** One line (RFC 4180). An apostrophe is put before a text that a spreadsheet would run as a formula. */
function csvLine(cells: readonly (string | number | Date | null)[]): string {
  const texts = cells.map((cell) => {
    if (cell === null) return '';
    if (typeof cell === 'number') return String(cell);
    if (cell instanceof Date) return cell.toISOString();
    return `"${FORMULA.test(cell) ? "'" : ''}${cell.replaceAll('"', '""')}"`;
  });
  return `${texts.join(',')}\r\n`;
}

/** The lines of a CSV table: one with the names of the columns, then those of each page of rows. */
async function* csvPieces<Column extends string>(
  columns: readonly Column[],
  pages: AsyncIterable<Readonly<Record<Column, string | number | null>>[]>,
): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const rows of pages) yield rows.map((row) => csvLine(columns.map((column) => row[column]))).join('');
}

/** A CSV table as a reply: a line with the names of the columns, then a piece for each page of rows. */
export function csvTable<Column extends string>(
  filename: string,
  columns: readonly Column[],
  pages: AsyncIterable<Readonly<Record<Column, string | number | null>>[]>,
): StreamedReply {
  return {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${filename}"`,
    },
    pieces: csvPieces(columns, pages),
    pieceBytes: 0,
    isRows: true,
  };
}
