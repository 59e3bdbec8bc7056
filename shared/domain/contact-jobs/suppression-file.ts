import { isEmailAddress, normalizeAddress } from '../../pure/emails/email-address.ts';
import type { SuppressedAddress } from '../suppressions/suppression-lists.ts';
import { DESCRIBED_ROWS_MAX, SHOWN_EMAIL_LENGTH_MAX, type RefusedRow } from './imported-rows.ts';
import { NO_OBJECT } from './json-lines.ts';
import { readAddressHeader, readTable, type ColumnMapping } from './import-header.ts';

export interface SuppressionFile {
  totalRows: number;
  suppressed: SuppressedAddress[];
  failureCount: number;
  /** The first `DESCRIBED_ROWS_MAX` rows that cannot be stored. */
  errors: RefusedRow[];
}

const WORDS_LENGTH_MAX = 500;
/** Of a longer cell, the rest is not read: a cell may have megabytes. */
const CELL_LENGTH_MAX = 10_000;

function readCell(cells: string[] | undefined, column: number): string {
  return (cells?.[column] ?? '').slice(0, CELL_LENGTH_MAX);
}

/**
 * Reads a file of addresses to suppress: the column of addresses, and the column `words` if it exists. Other columns are
 * ignored, so that an export can be imported again.
 * @param mappings what the caller says of columns
 * @throws ImportFileError saying why the file cannot be imported
 */
export async function readSuppressionFile(
  content: Buffer,
  mappings: readonly ColumnMapping[],
): Promise<SuppressionFile> {
  const file: SuppressionFile = { totalRows: 0, suppressed: [], failureCount: 0, errors: [] };
  const add = (cells: string[] | undefined, columns: { email: number; other: number }, row: number): void => {
    file.totalRows += 1;
    const address = normalizeAddress(readCell(cells, columns.email));
    const words = readCell(cells, columns.other).trim().replaceAll('\0', '').slice(0, WORDS_LENGTH_MAX);
    if (isEmailAddress(address)) {
      file.suppressed.push({ address, words: words === '' ? null : words });
      return;
    }
    file.failureCount += 1;
    if (file.errors.length === DESCRIBED_ROWS_MAX) return;
    const email = address.replaceAll('\0', '').slice(0, SHOWN_EMAIL_LENGTH_MAX);
    const fault = !cells ? NO_OBJECT : email === '' ? 'has no email address' : 'has no valid email address';
    file.errors.push({ row, email: email === '' ? null : email, error: `The row ${fault}` });
  };
  for await (const { columns, rows } of readTable(content, (cells) => readAddressHeader(cells, mappings, 'words')))
    for (const [cells, row] of rows) add(cells, columns, row);
  return file;
}
