import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';

/** The file cannot be imported at all; the message is for whoever uploaded it. */
export class ImportFileError extends Error {}

/** The parser works on this much at a time, so that the process can do other work in between. */
const SLICE_BYTES = 64 * 1024;

/** Whether a record holds nothing. */
export function isBlank(cells: string[]): boolean {
  return cells.every((cell) => cell === '' || cell.trim() === '');
}

/** The most columns of a file. */
export const COLUMNS_MAX = 500;

const BYTE_ORDER_MARK = /^\ufeff/;

/** Reads a text without quotes, in which a line is a record and a comma the end of a cell: in a fifth of the parser's time. */
async function readUnquoted(text: string, take: (cells: string[]) => void): Promise<void> {
  // The first line end decides which line ends the file has. The parser does the same.
  const lineEnd = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  let pauseAt = SLICE_BYTES;
  for (let at = 0; at < text.length;) {
    const found = text.indexOf(lineEnd, at);
    const end = found < 0 ? text.length : found;
    // A line of megabytes is not taken apart whole: one cell too many tells that it is wrong.
    take(text.slice(at, end).split(',', COLUMNS_MAX + 1));
    at = end + lineEnd.length;
    if (at < pauseAt) continue;
    pauseAt = at + SLICE_BYTES;
    await nextTurn();
  }
}

/**
 * Hands each record of a CSV file to `take` as it is parsed (RFC 4180; also with a byte order mark, any line ends).
 * @throws ImportFileError saying why the file cannot be read
 */
export async function readCsv(content: Buffer, take: (cells: string[]) => void): Promise<void> {
  if (!isUtf8(content)) throw new ImportFileError('The file is not text in UTF-8');
  if (!content.includes('"')) {
    await readUnquoted(content.toString('utf8').replace(BYTE_ORDER_MARK, ''), take);
    return;
  }
  let fault: Error | undefined;
  const parser = parse({
    bom: true,
    relax_column_count: true,
    on_record(cells: string[]) {
      take(cells);
      // It compares each record with its first one, and makes an error with a stack for each that is longer or shorter.
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
      await nextTurn();
    }
    parser.end();
    await Promise.race([ended, failed]);
  } catch (error) {
    throw error instanceof CsvError ? new ImportFileError(describe(error)) : error;
  }
}

function describe(error: CsvError): string {
  const line = (error as unknown as { lines?: number }).lines;
  const place = line === undefined ? '' : ` on line ${line}`;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `The file is not valid CSV: a quoted cell is never closed`;
    case 'INVALID_OPENING_QUOTE':
      return `The file is not valid CSV: a quote inside a cell that is not quoted${place}`;
    case 'CSV_INVALID_CLOSING_QUOTE':
      return `The file is not valid CSV: a quoted cell goes on after its closing quote${place}`;
    default:
      return `The file is not valid CSV${place}`;
  }
}
