import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse';
import { pause } from '../../platform/turns.ts';

/** The whole file cannot be imported. The message is for the person who uploaded it. */
export class ImportFileError extends Error {}

/** The file is read in slices of this size, so that the process can do other work in between. */
const SLICE_BYTES = 64 * 1024;

/** Whether all cells of a record are empty or white space. */
export function isBlank(cells: string[]): boolean {
  return cells.every((cell) => cell === '' || cell.trim() === '');
}

/** The most columns of a file; of a line with more, no more than one too many is handed over. */
export const COLUMNS_MAX = 500;

const BYTE_ORDER_MARK = /^\ufeff/;

/** Reads a text without quotes, in a fifth of the parser's time: each line is a record, and each comma ends a cell. */
async function readUnquoted(text: string, onRecord: (cells: string[]) => void): Promise<void> {
  // The first line end is the line end of the whole file, as it is for the parser.
  const lineEnd = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  let pauseAt = SLICE_BYTES;
  for (let at = 0; at < text.length;) {
    const found = text.indexOf(lineEnd, at);
    const end = found < 0 ? text.length : found;
    // One cell too many shows that a line is wrong, so the rest of a line of megabytes is not split.
    onRecord(text.slice(at, end).split(',', COLUMNS_MAX + 1));
    at = end + lineEnd.length;
    if (at < pauseAt) continue;
    pauseAt = at + SLICE_BYTES;
    await pause();
  }
}

/**
 * Parses a CSV file (RFC 4180, also with a byte order mark and with other line ends), and calls `onRecord` for each
 * record.
 * @throws ImportFileError saying why the file cannot be read
 */
export async function readCsv(content: Buffer, onRecord: (cells: string[]) => void): Promise<void> {
  if (!isUtf8(content)) throw new ImportFileError('The file is not text in UTF-8');
  if (!content.includes('"')) {
    await readUnquoted(content.toString('utf8').replace(BYTE_ORDER_MARK, ''), onRecord);
    return;
  }
  let fault: Error | undefined;
  const parser = parse({
    bom: true,
    relax_column_count: true,
    on_record(cells: string[]) {
      onRecord(cells.length > COLUMNS_MAX ? cells.slice(0, COLUMNS_MAX + 1) : cells);
      // The parser would create an error for each record that is longer or shorter than the first one, which is slow.
      // Without a count of records it takes each record for the first one.
      Object.assign(parser.info, { records: 0 });
      return null;
    },
  });
  const failed = new Promise<never>((_, reject) => {
    parser.once('error', (error) => {
      fault = error;
      reject(error);
    });
  });
  failed.catch(() => undefined);
  const ended = new Promise<void>((resolve) => parser.once('end', resolve));
  parser.resume();
  try {
    for (let at = 0; at < content.length && !fault; at += SLICE_BYTES) {
      const written = new Promise<void>((resolve) => {
        parser.write(content.subarray(at, at + SLICE_BYTES), () => resolve());
      });
      await Promise.race([written, failed]);
      await pause();
    }
    parser.end();
    await Promise.race([ended, failed]);
  } catch (error) {
    throw error instanceof CsvError ? new ImportFileError(describe(error)) : error;
  }
}

function describe(error: CsvError): string {
  const line = (error as unknown as { lines?: number }).lines;
  const onLine = line === undefined ? '' : ` on line ${line}`;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `The file is not valid CSV: a quoted cell is never closed`;
    case 'INVALID_OPENING_QUOTE':
      return `The file is not valid CSV: a cell that is not quoted contains a quote${onLine}`;
    case 'CSV_INVALID_CLOSING_QUOTE':
      return `The file is not valid CSV: a quoted cell continues after its closing quote${onLine}`;
    default:
      return `The file is not valid CSV${onLine}`;
  }
}
