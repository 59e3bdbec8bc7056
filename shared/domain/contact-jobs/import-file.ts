import { readStanding } from '../../pure/contacts/subscription-columns.ts';
import { withoutApostrophe } from '../../pure/formula.ts';
import { isEmailAddress, normalizeAddress } from '../../pure/emails/email-address.ts';
import { isRecipientAddress } from '../../sending/transport/wire-address.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import { FORBIDDEN_KEY, RESERVED_DATA_KEYS } from '../../pure/contacts/custom-data.ts';
import type { TopicChoices } from '../../pure/topics.ts';
import { COLUMNS_MAX, ImportFileError } from './csv-file.ts';
import { readCell, readSubscribed } from './import-cells.ts';
import {
  EXPORTED_COLUMNS,
  readHeader,
  readTable,
  type CheckedColumn,
  type ColumnMapping,
  type Columns,
  type DataColumn,
} from './import-header.ts';
import {
  refusedRow,
  RowCollector,
  RowNotes,
  takePart,
  type ImportedContact,
  type ImportFile,
  type RefusedRow,
} from './imported-rows.ts';
import { NO_OBJECT } from './json-lines.ts';

const DATA_FAULT = `has more than ${LIMITS.contactDataBytes} bytes of custom data`;

const choiceFault = (column: string): string => `has a value for "${column}" that is neither true nor false`;

/** What a row says about its subscription. */
interface Subscription {
  subscribed: boolean | undefined;
  hasLeft?: true;
  /** The column that leaves open whether the person is subscribed, which refuses the file. */
  open?: CheckedColumn;
}

/** The longest value that an error shows. */
const SHOWN_VALUE_LENGTH_MAX = 40;

function openQuestion({ column }: CheckedColumn, cell: string, row: number): ImportFileError {
  const shown = cell.includes('@')
    ? 'a value'
    : `"${cell.trim().replaceAll('\0', '').slice(0, SHOWN_VALUE_LENGTH_MAX)}"`;
  return new ImportFileError(
    `Row ${row} has ${shown} in the column "${column}", which leaves open whether the person is subscribed: add a column "subscribed" with true or false, or send map=${column}:data.${column} when it is about something else`,
  );
}

/** What the column `subscribed` says; undefined when it is not understood. */
function readSubscribedCell(column: CheckedColumn, cell: string): Subscription | undefined {
  if (cell.trim() === '') return { subscribed: undefined };
  if (column.kind !== 'left') {
    const subscribed = readSubscribed(cell);
    if (subscribed !== undefined) return { subscribed };
  }
  const standing = readStanding(column, cell);
  if (standing === undefined || (standing === null && column.kind !== 'left')) return undefined;
  if (standing === 'left') return { subscribed: false, hasLeft: true };
  return { subscribed: standing === 'never' ? false : undefined };
}

/**
 * Whether a row is subscribed. One column in which it says that the person has left is enough for false.
 * @returns undefined when the column `subscribed` is not understood
 */
function readSubscription(cells: string[], { subscribed, checked }: Columns): Subscription | undefined {
  const own = subscribed && readSubscribedCell(subscribed, cells[subscribed.index] ?? '');
  if (subscribed && !own) return undefined;
  const result = own ?? { subscribed: undefined };
  for (const column of checked) {
    const cell = cells[column.index];
    if (cell === undefined || cell === '') continue;
    const standing = readStanding(column, cell);
    if (standing === undefined && column.isDecisive) return { ...result, open: column };
    if (standing === 'left' || standing === 'never') result.subscribed = false;
    if (standing === 'left') result.hasLeft = true;
  }
  return result;
}

/** What the column `trackingAllowed` says; null when it is not understood. */
function readTracking(cells: string[], { tracking }: Columns): boolean | null | undefined {
  const cell = tracking === undefined ? '' : (cells[tracking] ?? '');
  return cell.trim() === '' ? undefined : (readSubscribed(cell) ?? null);
}

/** Which topics a row says that the person has. @returns the key of a topic whose cell is not understood, instead */
function readTopics(cells: string[], { topics }: Columns): TopicChoices | string | undefined {
  if (topics.length === 0) return undefined;
  const choices: Record<string, boolean> = {};
  for (const { index, key } of topics) {
    const cell = cells[index] ?? '';
    if (cell.trim() === '') continue;
    const choice = readSubscribed(cell);
    if (choice === undefined) return key;
    choices[key] = choice;
  }
  return choices;
}

function faultOf(cells: string[], columns: Columns, email: string): string | undefined {
  if (cells.length > COLUMNS_MAX) return `has more than ${COLUMNS_MAX} cells, but the header has ${columns.count}`;
  if (cells.length > columns.count) return `has ${cells.length} cells, but the header has ${columns.count}`;
  if (email === '') return 'has no email address';
  if (!isEmailAddress(email)) return 'has no valid email address';
  if (!isRecipientAddress(email))
    return 'has an address that no email can be sent to: no domain name stands after the @';
  return undefined;
}

function isBlankCell(cell: string | undefined): boolean {
  return cell === undefined || cell.trim() === '';
}

/**
 * The custom data of a row as JSON; undefined when it is more than a contact may have. It is written key by key, because
 * making an object first would take twice the time.
 */
function readData(cells: string[], columns: DataColumn[]): string | undefined {
  let text = '';
  for (const { index, prefix } of columns) {
    const cell = cells[index];
    if (cell === undefined || isBlankCell(cell)) continue;
    // A cell of this length cannot fit, so it is not written as JSON first.
    if (cell.length > LIMITS.contactDataBytes) return undefined;
    text += (text === '' ? '{' : ',') + prefix + JSON.stringify(readCell(cell));
  }
  text = text === '' ? '{}' : `${text}}`;
  return utf8Bytes(text) > LIMITS.contactDataBytes ? undefined : text;
}

/** The object that a cell holds as JSON; undefined for any other text. */
function objectIn(cell: string): Record<string, unknown> | undefined {
  if (cell === '') return {};
  const value = readCell(cell);
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

const isMoment = (text: string): boolean => text === '' || !Number.isNaN(Date.parse(text));

/** What a row of an exported file says in its own columns. @returns the name of a faulty column instead */
function readExported(exported: ReadonlyMap<string, number>, cells: string[]) {
  const [data, topics, leftAt, reason, pausedUntil] = EXPORTED_COLUMNS.map(
    (name) => cells[exported.get(name) ?? -1] ?? '',
  ) as [string, string, string, string, string];
  const values = objectIn(data);
  const choices = objectIn(topics);
  const isForbidden = (key: string): boolean => key.length > LIMITS.contactDataKeyLength || key === FORBIDDEN_KEY;
  if (!values || Object.keys(values).some(isForbidden)) return 'data.*';
  if (!choices || Object.values(choices).some((choice) => typeof choice !== 'boolean')) return 'topics';
  if (!isMoment(leftAt)) return 'unsubscribedAt';
  if (!/^\w{0,100}$/.test(reason)) return 'reason';
  if (!isMoment(pausedUntil)) return 'pausedUntil';
  const said = [leftAt, reason, pausedUntil].some((cell) => cell !== '');
  const restored = {
    leftAt: leftAt || undefined,
    reason: reason || undefined,
    pausedUntil: pausedUntil || undefined,
  };
  const left = leftAt === '' ? {} : { subscribed: false, hasLeft: true as const };
  const kept = Object.entries(values).filter(([key]) => !RESERVED_DATA_KEYS.has(key));
  return { values: Object.fromEntries(kept), choices: choices as TopicChoices, ...left, ...(said && { restored }) };
}

/** Reads the rows of a file with this header. */
class RowReader {
  readonly #columns: Columns;
  readonly #notes: RowNotes;
  /** The columns of which no row that can be stored has had a value yet. */
  #unseen: DataColumn[];

  constructor(columns: Columns, notes: RowNotes) {
    this.#columns = columns;
    this.#notes = notes;
    this.#unseen = columns.data;
    for (const { key } of columns.topics) notes.topicKeys.add(key);
  }

  /**
   * Notes what a row says that concerns all rows. Most rows say nothing of the kind, and are not read for it.
   * @returns the row, if it was read
   * @throws ImportFileError when the row leaves open whether the person is subscribed
   */
  note(cells: string[] | undefined, row: number): ImportedContact | RefusedRow | undefined {
    if (!cells || !this.#concernsAll(cells)) return undefined;
    const read = this.read(cells, row);
    if ('error' in read) return read;
    this.#notes.add(read);
    this.#unseen = this.#unseen.filter(({ key }) => !(key in this.#notes.firstValues));
    return read;
  }

  #concernsAll(cells: string[]): boolean {
    if (this.#columns.exported || this.#unseen.some(({ index }) => !isBlankCell(cells[index]))) return true;
    const said = readSubscription(cells, this.#columns);
    return said?.hasLeft !== undefined || said?.open !== undefined;
  }

  /** @throws ImportFileError when the row leaves open whether the person is subscribed */
  read(cells: string[] | undefined, row: number): ImportedContact | RefusedRow {
    if (!cells) return refusedRow(row, '', NO_OBJECT);
    const columns = this.#columns;
    const written = cells[columns.email] ?? '';
    const email = normalizeAddress(columns.exported ? withoutApostrophe(written) : written);
    const refused = (fault: string): RefusedRow => refusedRow(row, written, fault);
    const fault = faultOf(cells, columns, email);
    if (fault !== undefined) return refused(fault);
    const said = readSubscription(cells, columns);
    if (!said) return refused(choiceFault('subscribed'));
    if (said.open) throw openQuestion(said.open, cells[said.open.index] ?? '', row);
    const topics = readTopics(cells, columns);
    if (typeof topics === 'string') return refused(choiceFault(`topic.${topics}`));
    const trackingAllowed = readTracking(cells, columns);
    if (trackingAllowed === null) return refused(choiceFault('trackingAllowed'));
    if (cells.some((cell) => cell.includes('\0'))) return refused('contains the NUL character');
    const contact = { row, email, ...said, topics, trackingAllowed };
    if (!columns.exported) {
      const data = readData(cells, columns.data);
      return data === undefined ? refused(DATA_FAULT) : { ...contact, data };
    }
    const exported = readExported(columns.exported, cells);
    if (typeof exported === 'string') return refused(`has a value for "${exported}" that is not understood`);
    const { values, choices, ...more } = exported;
    const data = JSON.stringify(values);
    if (utf8Bytes(data) > LIMITS.contactDataBytes) return refused(DATA_FAULT);
    return { ...contact, ...more, topics: { ...choices, ...topics }, data };
  }
}

/** A file that is valid to its end. */
export interface CheckedFile extends Omit<ImportFile, 'rows'> {
  total: number;
  /** Its rows from a position on, so many at a time. */
  rowsFrom: (position: number, count: number) => AsyncGenerator<ImportFile['rows']>;
}

/**
 * Reads a file of contacts to its end before any contact is stored, so a file that is not valid changes nothing. What one
 * row says of all is noted; the rows themselves are read again when they are asked for, while others are stored.
 * @param mappings what the caller says of columns
 * @throws ImportFileError saying why the file cannot be imported
 */
export async function checkImportFile(content: Buffer, mappings: readonly ColumnMapping[] = []): Promise<CheckedFile> {
  const notes = new RowNotes();
  const table = () => readTable(content, (cells) => new RowReader(readHeader(cells, mappings), notes));
  let total = 0;
  for await (const { columns: reader, rows } of table()) {
    for (const [cells, row] of rows) reader.note(cells, row);
    total += rows.length;
  }
  return {
    topicKeys: [...notes.topicKeys],
    firstValues: notes.firstValues,
    total,
    async *rowsFrom(position, count) {
      const collector = new RowCollector(count);
      let at = 0;
      for await (const { columns: reader, rows } of table()) {
        for (const [cells, row] of rows) {
          at += 1;
          if (at > position) collector.add(reader.read(cells, row));
          if (collector.isFull) yield collector.take(notes.leavers);
        }
      }
      const last = collector.take(notes.leavers);
      if (last.length > 0) yield last;
    },
  };
}

/**
 * Reads a file of any size, part after part.
 * @throws ImportFileError saying why the file cannot be imported
 */
export async function* readImportParts(
  source: AsyncIterable<string[][]>,
  mappings: readonly ColumnMapping[],
): AsyncGenerator<ImportFile> {
  const [collector, notes] = [new RowCollector(), new RowNotes()];
  for await (const { columns: reader, rows } of readTable(
    source,
    (cells) => new RowReader(readHeader(cells, mappings), notes),
  )) {
    for (const [cells, row] of rows) {
      collector.add(reader.note(cells, row) ?? reader.read(cells, row));
      if (collector.isFull) yield takePart(collector, notes);
    }
  }
  yield takePart(collector, notes);
}
