import type { Response } from 'express';

/** A CSV table that is sent piece by piece. */
export interface CsvReply {
  filename: string;
  pieces: AsyncIterator<string>;
}

/** Matches texts that a spreadsheet would run as a formula. */
const FORMULA = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/;

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

/** The pieces of a CSV table: a line with the names of the columns, then a piece for each page of rows. */
export async function* csvTable<Column extends string>(
  columns: readonly Column[],
  pages: AsyncIterable<Readonly<Record<Column, string | number | null>>[]>,
): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const rows of pages) yield rows.map((row) => csvLine(columns.map((column) => row[column]))).join('');
}

/** Resolves when the client has read what was written, or has gone. */
async function untilRead(res: Response): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      res.off('drain', end);
      res.off('close', end);
      resolve();
    };
    res.once('drain', end);
    res.once('close', end);
  });
}

/**
 * Sends a table no faster than the client reads it, so one piece is in memory at a time. Each piece waits for its turn.
 * @throws the error of reading a piece; the connection is closed then, which tells the client that the rest is missing
 */
export async function sendCsv(
  res: Response,
  { filename, pieces }: CsvReply,
  takeTurn: () => Promise<() => void>,
): Promise<void> {
  res.setHeader('Content-Type', 'text/csv; charset=utf-8');
  res.setHeader('Content-Disposition', `attachment; filename="${filename}"`);
  if (res.req.method === 'HEAD') {
    res.end();
    return;
  }
  try {
    while (!res.destroyed) {
      const release = await takeTurn();
      const piece = await pieces.next().finally(release);
      if (piece.done) break;
      if (!res.write(piece.value)) await untilRead(res);
    }
    res.end();
  } catch (error) {
    res.destroy();
    throw error;
  }
}
