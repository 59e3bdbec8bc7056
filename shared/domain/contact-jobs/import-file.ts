import { RESERVED_DATA_KEYS } from '../../pure/contacts/custom-data.ts';
import { isEmailAddress, normalizeAddress } from '../../pure/emails/email-address.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import { ImportFileError, isBlank, readCsv } from './csv-file.ts';
import { readCell, readSubscribed } from './import-cells.ts';

/** A row that can be stored. */
export interface ImportedContact {
  /** As a spreadsheet counts: the header is row 1. */
  row: number;
  email: string;
  /** Undefined leaves an existing contact as it is. */
  subscribed: boolean | undefined;
  /** The custom data of the row, as JSON. */
  data: string;
}

/** A row that cannot be stored. */
export interface RefusedRow {
  row: number;
  email: string | null;
  error: string;
}

/** A row that cannot be stored and is not described. */
const REFUSED = null;

export interface ImportFile {
  rows: (ImportedContact | RefusedRow | typeof REFUSED)[];
  /** The keys of the custom data, each with its first value. */
  firstValues: Record<string, unknown>;
}

/** Refused rows that are described; the others are only counted. */
const DESCRIBED_MAX = 100;
const COLUMNS_MAX = 500;
const EMAIL_SHOWN_MAX = 254;

const DATA_FAULT = `has more than ${LIMITS.contactDataBytes} bytes of custom data`;

interface Columns {
  count: number;
  email: number;
  subscribed: number | undefined;
  data: { index: number; key: string }[];
}

function readHeader(cells: string[]): Columns {
  if (cells.length > COLUMNS_MAX) throw new ImportFileError(`The header has more than ${COLUMNS_MAX} columns`);
  const columns: Columns = { count: cells.length, email: -1, subscribed: undefined, data: [] };
  const seen = new Set<string>();
  cells.forEach((cell, index) => {
    const name = cell.trim();
    if (name === '') return;
    const lowered = name.toLowerCase();
    const isOurs = lowered === 'email' || lowered === 'subscribed';
    const column = isOurs ? lowered : name;
    if (column.includes('\0')) throw new ImportFileError('The header contains the NUL character');
    if (column.length > LIMITS.contactDataKeyLength) {
      throw new ImportFileError(
        `The name of column ${index + 1} is longer than ${LIMITS.contactDataKeyLength} characters`,
      );
    }
    if (seen.has(column)) throw new ImportFileError(`The header names the column "${column}" twice`);
    seen.add(column);
    if (lowered === 'email') columns.email = index;
    else if (lowered === 'subscribed') columns.subscribed = index;
    else if (!RESERVED_DATA_KEYS.has(name)) columns.data.push({ index, key: name });
  });
  if (columns.email < 0) throw new ImportFileError('The header has no column "email"');
  return columns;
}

function faultOf(cells: string[], columns: Columns): string | undefined {
  if (cells.length > columns.count) return `has ${cells.length} cells, but the header has ${columns.count}`;
  const email = normalizeAddress(cells[columns.email] ?? '');
  if (email === '') return 'has no email address';
  if (!isEmailAddress(email)) return 'is not a valid email address';
  const subscribed = columns.subscribed === undefined ? '' : (cells[columns.subscribed] ?? '');
  if (subscribed.trim() !== '' && readSubscribed(subscribed) === undefined) {
    return 'has a value for "subscribed" that is neither true nor false';
  }
  if (cells.some((cell) => cell.includes('\0'))) return 'contains the NUL character';
  return undefined;
}

/** @returns undefined when the row holds more data than a contact may */
function readRow(
  row: number,
  cells: string[],
  columns: Columns,
  firstValues: Record<string, unknown>,
): ImportedContact | undefined {
  const data = Object.create(null) as Record<string, unknown>;
  for (const { index, key } of columns.data) {
    const cell = cells[index];
    if (cell === undefined || cell.trim() === '') continue;
    data[key] = readCell(cell);
  }
  const text = JSON.stringify(data);
  if (utf8Bytes(text) > LIMITS.contactDataBytes) return undefined;
  for (const [key, value] of Object.entries(data)) firstValues[key] ??= value;
  const subscribed = columns.subscribed === undefined ? undefined : readSubscribed(cells[columns.subscribed] ?? '');
  return { row, email: normalizeAddress(cells[columns.email] ?? ''), subscribed, data: text };
}

/**
 * Reads a whole file of contacts before anything is stored, so a file that breaks off changes nothing. The first row
 * names the columns.
 * @throws ImportFileError saying why the file cannot be imported
 */
export async function readImportFile(content: Buffer): Promise<ImportFile> {
  const file: ImportFile = { rows: [], firstValues: Object.create(null) as Record<string, unknown> };
  let columns: Columns | undefined;
  let rowNumber = 0;
  let describedCount = 0;

  function take(cells: string[]): void {
    rowNumber += 1;
    if (!columns) {
      columns = readHeader(cells);
      return;
    }
    if (isBlank(cells) && cells.length <= columns.count) return;
    const fault = faultOf(cells, columns);
    const contact = fault === undefined ? readRow(rowNumber, cells, columns, file.firstValues) : undefined;
    if (contact) {
      file.rows.push(contact);
    } else if (describedCount < DESCRIBED_MAX) {
      describedCount += 1;
      const email = cells[columns.email]?.trim().replaceAll('\0', '').slice(0, EMAIL_SHOWN_MAX) ?? '';
      file.rows.push({ row: rowNumber, email: email === '' ? null : email, error: `The row ${fault ?? DATA_FAULT}` });
    } else {
      file.rows.push(REFUSED);
    }
  }

  await readCsv(content, take);
  if (!columns) throw new ImportFileError('The file is empty');
  return file;
}
