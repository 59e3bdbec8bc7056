import { RESERVED_DATA_KEYS } from '../../pure/contacts/custom-data.ts';
import { isEmailAddress, normalizeAddress } from '../../pure/emails/email-address.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import { COLUMNS_MAX, ImportFileError, isBlank, readCsv } from './csv-file.ts';
import { readCell, readSubscribed } from './import-cells.ts';

/** A row that can be stored. */
export interface ImportedContact {
  /** The number of the row in a spreadsheet, where the header is row 1. */
  row: number;
  email: string;
  /** Undefined keeps the subscription of an existing contact. */
  subscribed: boolean | undefined;
  /** The custom data of the row, as JSON. */
  data: string;
}

/** A row that cannot be stored, with its error. */
export interface RefusedRow {
  row: number;
  email: string | null;
  error: string;
}

/** A row that cannot be stored, and is only counted. */
const REFUSED = null;

export interface ImportFile {
  rows: (ImportedContact | RefusedRow | typeof REFUSED)[];
  /** The first value of each key of custom data, from which its type is inferred. */
  firstValues: Record<string, unknown>;
}

/** The most refused rows that are described; further ones are only counted. */
export const DESCRIBED_ROWS_MAX = 100;
/** The address of a refused row is cut at this length. */
export const SHOWN_EMAIL_LENGTH_MAX = 254;

const DATA_FAULT = `has more than ${LIMITS.contactDataBytes} bytes of custom data`;

/** The header: the indexes of its columns. */
interface Columns {
  count: number;
  email: number;
  subscribed: number | undefined;
  data: DataColumn[];
}

interface DataColumn {
  index: number;
  key: string;
  /** The key in JSON with its colon. */
  prefix: string;
}

function readHeader(cells: string[]): Columns {
  if (cells.length > COLUMNS_MAX) throw new ImportFileError(`The header has more than ${COLUMNS_MAX} columns`);
  const columns: Columns = { count: cells.length, email: -1, subscribed: undefined, data: [] };
  const seen = new Set<string>();
  cells.forEach((cell, index) => {
    const name = cell.trim();
    if (name === '') return;
    const lowered = name.toLowerCase();
    const isStandard = lowered === 'email' || lowered === 'subscribed';
    const column = isStandard ? lowered : name;
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
    else if (!RESERVED_DATA_KEYS.has(name)) columns.data.push({ index, key: name, prefix: `${JSON.stringify(name)}:` });
  });
  if (columns.email < 0) throw new ImportFileError('The header has no column "email"');
  return columns;
}

function faultOf(cells: string[], columns: Columns, email: string): string | undefined {
  if (cells.length > COLUMNS_MAX) return `has more than ${COLUMNS_MAX} cells, but the header has ${columns.count}`;
  if (cells.length > columns.count) return `has ${cells.length} cells, but the header has ${columns.count}`;
  if (email === '') return 'has no email address';
  if (!isEmailAddress(email)) return 'is not a valid email address';
  const subscribed = columns.subscribed === undefined ? '' : (cells[columns.subscribed] ?? '');
  if (subscribed.trim() !== '' && readSubscribed(subscribed) === undefined) {
    return 'has a value for "subscribed" that is neither true nor false';
  }
  if (cells.some((cell) => cell.includes('\0'))) return 'contains the NUL character';
  return undefined;
}

/**
 * Creates the reader of custom data. It writes JSON key by key, because making objects first would take twice the time.
 */
function createDataReader(columns: DataColumn[], firstValues: Record<string, unknown>) {
  let unseen = columns;

  function noteFirstValues(cells: string[]): void {
    unseen = unseen.filter(({ index, key }) => {
      const cell = cells[index] ?? '';
      if (cell.trim() === '') return true;
      firstValues[key] = readCell(cell);
      return false;
    });
  }

  /** @returns the custom data as JSON; undefined when it is more than a contact may have */
  return (cells: string[]): string | undefined => {
    let text = '';
    for (const { index, prefix } of columns) {
      const cell = cells[index];
      if (cell === undefined || cell.trim() === '') continue;
      // A cell of this length cannot fit, so it is not written as JSON first.
      if (cell.length > LIMITS.contactDataBytes) return undefined;
      text += (text === '' ? '{' : ',') + prefix + JSON.stringify(readCell(cell));
    }
    text = text === '' ? '{}' : `${text}}`;
    if (utf8Bytes(text) > LIMITS.contactDataBytes) return undefined;
    if (unseen.length > 0) noteFirstValues(cells);
    return text;
  };
}

/**
 * Reads a whole file of contacts before any contact is stored, so a file that is not valid to its end changes nothing.
 * The first row names the columns.
 * @throws ImportFileError saying why the file cannot be imported
 */
export async function readImportFile(content: Buffer): Promise<ImportFile> {
  const file: ImportFile = { rows: [], firstValues: Object.create(null) as Record<string, unknown> };
  let columns: Columns | undefined;
  let readData: ((cells: string[]) => string | undefined) | undefined;
  let rowNumber = 0;
  let describedCount = 0;

  function readRecord(cells: string[]): void {
    rowNumber += 1;
    if (!columns || !readData) {
      columns = readHeader(cells);
      readData = createDataReader(columns.data, file.firstValues);
      return;
    }
    if (cells.length <= columns.count && isBlank(cells)) return;
    const email = normalizeAddress(cells[columns.email] ?? '');
    const fault = faultOf(cells, columns, email);
    const data = fault === undefined ? readData(cells) : undefined;
    if (data !== undefined) {
      const subscribed = columns.subscribed === undefined ? undefined : readSubscribed(cells[columns.subscribed] ?? '');
      file.rows.push({ row: rowNumber, email, subscribed, data });
    } else if (describedCount < DESCRIBED_ROWS_MAX) {
      describedCount += 1;
      const shown = cells[columns.email]?.trim().replaceAll('\0', '').slice(0, SHOWN_EMAIL_LENGTH_MAX) ?? '';
      file.rows.push({ row: rowNumber, email: shown === '' ? null : shown, error: `The row ${fault ?? DATA_FAULT}` });
    } else {
      file.rows.push(REFUSED);
    }
  }

  await readCsv(content, readRecord);
  if (!columns) throw new ImportFileError('The file is empty');
  return file;
}
