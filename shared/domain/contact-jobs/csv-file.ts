import { CsvError, parse } from 'csv-parse';
import { yieldNow } from '../../platform/yielding.ts';

/** The whole file cannot be imported. The message is for the person who uploaded it. */
export class ImportFileError extends Error {}

/** Longer rows are refused, so that a quote that is never closed does not fill the memory. */
const ROW_LENGTH_MAX = 8 * 1024 * 1024;

/** The file is read in slices of this size, so that the process can do other work in between. */
const SLICE_BYTES = 64 * 1024;

/** Whether all cells of a record are empty or white space. */
export function isBlank(cells: string[]): boolean {
  return cells.every((cell) => cell === '' || cell.trim() === '');
}

/** The most columns of a file; of a line with more, no more than one too many is handed over. */
export const COLUMNS_MAX = 500;

/** The encoding of a file by its first two octets: a byte order mark, or a Latin letter, which has no NUL in UTF-8. */
export function encodingOf([first, second]: Buffer): string {
  if ((first === 0xff && second === 0xfe) || second === 0) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : 'utf-8';
}

/** The line by which a file tells Excel its separator. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?\r?\n/i;

/** Headers are shorter; of a longer one, the beginning shows the separator. */
const HEADER_BYTES_MAX = 256 * 1024;

/** The separator that the first line with text has most often outside of quotes; a comma when it has none. */
function delimiterOf(start: string): string {
  const unquoted = start.trimStart().replaceAll(/"[^"]*(?:"|$)/g, '');
  const line = /^[^\r\n]*/.exec(unquoted)?.[0] ?? '';
  const counts = [',', ';', '\t'].map((mark) => [line.split(mark).length, mark] as const);
  return counts.reduce((best, next) => (next[0] > best[0] ? next : best))[1];
}

/** The separator of a file, and its text without the line that tells it to Excel. */
function separated(text: string): { delimiter: string; rest: string } {
  const line = SEPARATOR_LINE.exec(text.slice(0, 16));
  const rest = text.slice(line?.[0].length ?? 0);
  return { delimiter: line?.[1] ?? delimiterOf(rest.slice(0, HEADER_BYTES_MAX)), rest };
}

/** Reads a text without quotes, in a fifth of the parser's time: each line is a record, each separator ends a cell. */
async function* unquotedRecords(file: Buffer): AsyncGenerator<string[][]> {
  const { delimiter, rest } = separated(await wholeTextOf(file));
  const text = rest.replaceAll(/\r\n?/g, '\n');
  for (let at = 0; at < text.length;) {
    const records: string[][] = [];
    for (const pauseAt = at + SLICE_BYTES; at < Math.min(pauseAt, text.length);) {
      const found = text.indexOf('\n', at);
      const end = found < 0 ? text.length : found;
      // One cell too many shows that a line is wrong, so the rest of a line of megabytes is not split.
      records.push(text.slice(at, end).split(delimiter, COLUMNS_MAX + 1));
      at = end + 1;
    }
    yield records;
    await yieldNow();
  }
}

/**
 * The records of a CSV file (RFC 4180), some at a time. It may have a byte order mark, other line ends, semicolons or
 * tabs in place of commas, and be in UTF-16.
 * @throws ImportFileError saying why the file cannot be read
 */
export async function* fileRecords(file: Buffer): AsyncGenerator<string[][]> {
  if (!file.includes('"')) {
    yield* unquotedRecords(file);
    return;
  }
  for await (const records of csvRecords(slicesOf(file))) {
    yield records.map((cells) => (cells.length > COLUMNS_MAX ? cells.slice(0, COLUMNS_MAX + 1) : cells));
  }
}

async function* slicesOf(file: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += SLICE_BYTES) {
    yield file.subarray(at, at + SLICE_BYTES);
    await yieldNow();
  }
}

/** The text of a file in UTF-8 or UTF-16, without its byte order mark. @throws ImportFileError */
export async function wholeTextOf(file: Buffer): Promise<string> {
  let text = '';
  for await (const piece of textOf(slicesOf(file))) text += piece;
  return text;
}

/** As `wholeTextOf`, piece by piece. @throws ImportFileError */
async function* textOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let head = Buffer.alloc(0);
  const decode = (octets?: Buffer): string => {
    try {
      const known = (decoder ??= new TextDecoder(encodingOf(head), { fatal: true }));
      return octets ? known.decode(octets, { stream: true }) : known.decode();
    } catch {
      throw new ImportFileError('The file is not text in UTF-8 or UTF-16');
    }
  };
  for await (const octets of source) {
    if (decoder) yield decode(octets);
    else if ((head = Buffer.concat([head, octets])).length >= 2) yield decode(head);
  }
  if (!decoder && head.length > 0) yield decode(head);
  yield decode();
}

/**
 * As `fileRecords`, for a file of any size, of which only a few records are in memory.
 * @throws ImportFileError saying why the file cannot be read
 */
export async function* csvRecords(source: AsyncIterable<Buffer>): AsyncGenerator<string[][]> {
  const text = textOf(source);
  let head = '';
  while (head.length < HEADER_BYTES_MAX) {
    const next = await text.next();
    if (next.done) break;
    head += next.value;
  }
  const { delimiter, rest } = separated(head);
  let records: string[][] = [];
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: ROW_LENGTH_MAX,
    on_record(cells: string[]) {
      records.push(cells);
      // The parser would create an error for each record that is longer or shorter than the first one, which is slow.
      // Without a count of records it takes each record for the first one.
      Object.assign(parser.info, { records: 0 });
      return null;
    },
  });
  let fault: Error | undefined;
  parser.on('error', (error) => (fault = error)).resume();
  function* taken(): Generator<string[][]> {
    const found = records;
    records = [];
    if (found.length > 0) yield found;
    if (fault) throw asFileError(fault);
  }
  for (let piece = rest; ;) {
    await new Promise<void>((resolve) => parser.write(piece, () => resolve()));
    // Records before a fault count: whoever needs the header alone does not see the fault.
    yield* taken();
    const next = await text.next();
    if (next.done) break;
    piece = next.value;
  }
  const closed = new Promise((resolve) => parser.once('close', resolve));
  parser.end();
  await closed;
  yield* taken();
}

/** The lines of a file with text, and their numbers. @throws ImportFileError */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<[line: string, number: number]> {
  let open = '';
  let number = 0;
  const isTooLong = (): ImportFileError => new ImportFileError(`Line ${number + 1} is too long`);
  for await (const text of textOf(source)) {
    const lines = (open + text).split('\n');
    open = lines.pop() ?? '';
    for (const line of lines) {
      number += 1;
      if (line.trim() !== '') yield [line, number];
    }
    if (open.length > ROW_LENGTH_MAX) throw isTooLong();
  }
  if (open.trim() !== '') yield [open, number + 1];
}

/** A fault of the parser, for the person whose file it is; any other error as it is. */
function asFileError(error: unknown): unknown {
  return error instanceof CsvError ? new ImportFileError(describe(error)) : error;
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
    case 'CSV_MAX_RECORD_SIZE':
      return `The file is not valid CSV: a row is too long${onLine}; perhaps a quote is missing`;
    default:
      return `The file is not valid CSV${onLine}`;
  }
}
