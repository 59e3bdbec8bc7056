import { readStanding } from '../../pure/contacts/subscription-columns.ts';
import { withoutApostrophe } from '../../pure/formula.ts';
import { isEmailAddress, normalizeAddress } from '../../pure/emails/email-address.ts';
import { isRecipientAddress } from '../../sending/transport/wire-address.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { LeftElsewhere } from '../../pure/events/subscription-reasons.ts';
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
import { NO_OBJECT } from './json-lines.ts';
import type { RestoredChoices } from './restored-choices.ts';

/** A row that can be stored. */
export interface ImportedContact {
  /** The number of the row in a spreadsheet, where the header is row 1. */
  row: number;
  email: string;
  /** Undefined keeps the subscription of an existing contact. */
  subscribed: boolean | undefined;
  /** Whether the row says that the person has left; then `subscribed` is false. */
  hasLeft?: true | undefined;
  /** Which topics the person has, by their keys. */
  topics?: TopicChoices | undefined;
  /** Whether the person agrees to tracking. */
  trackingAllowed?: boolean | undefined;
  /** Why the person has left elsewhere. What bounced, complained or is blocked is suppressed, too. */
  left?: LeftElsewhere | undefined;
  /** Further choices, in a file that Everpost has exported. */
  restored?: RestoredChoices | undefined;
  /** Keys of the custom data to delete. */
  removed?: string[] | undefined;
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
  /** The keys of the topics that columns name. */
  topicKeys: string[];
  rows: (ImportedContact | RefusedRow | typeof REFUSED)[];
  /** The first value of each key of custom data, from which its type is inferred. */
  firstValues: Record<string, unknown>;
}

/** The most refused rows that are described; further ones are only counted. */
export const DESCRIBED_ROWS_MAX = 100;
/** The address of a refused row is cut at this length. */
export const SHOWN_EMAIL_LENGTH_MAX = 254;

const DATA_FAULT = `has more than ${LIMITS.contactDataBytes} bytes of custom data`;

const choiceFault = (column: string): string => `has a value for "${column}" that is neither true nor false`;

/** What a row says about its subscription. */
interface Subscription {
  subscribed: boolean | undefined;
  hasLeft?: true;
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
 * @throws ImportFileError when another column leaves open who is subscribed
 */
function readSubscription(cells: string[], { subscribed, checked }: Columns, row: number): Subscription | undefined {
  const own = subscribed && readSubscribedCell(subscribed, cells[subscribed.index] ?? '');
  if (subscribed && !own) return undefined;
  const result = own ?? { subscribed: undefined };
  for (const column of checked) {
    const cell = cells[column.index];
    if (cell === undefined || cell === '') continue;
    const standing = readStanding(column, cell);
    if (standing === undefined && column.isDecisive) throw openQuestion(column, cell, row);
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
  if (!isEmailAddress(email)) return 'is not a valid email address';
  if (!isRecipientAddress(email))
    return 'has an address that no email can be sent to: no domain name stands after the @';
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

/** A part of a large file has so many rows, or about so many characters: a second of work, and a file of a few MB. */
const PART = { rows: 20_000, characters: 4 * 1024 * 1024 } as const;

/** Collects the rows of a file, whole or part by part. */
export class RowCollector {
  /** The keys of the topics that rows name. */
  readonly topicKeys = new Set<string>();
  readonly firstValues = Object.create(null) as Record<string, unknown>;
  #rows: ImportFile['rows'] = [];
  /** The addresses of people who have left, by any of the rows. */
  #leavers = new Set<string>();
  #describedCount = 0;
  #characters = 0;

  get isFull(): boolean {
    return this.#rows.length >= PART.rows || this.#characters >= PART.characters;
  }

  add(contact: ImportedContact): void {
    this.#rows.push(contact);
    this.#characters += contact.data.length + contact.email.length;
    if (contact.hasLeft) this.#leavers.add(contact.email);
  }

  /** @param written the address as it is in the file */
  refuse(row: number, written: string, fault: string): void {
    this.#describedCount += 1;
    if (this.#describedCount > DESCRIBED_ROWS_MAX) {
      this.#rows.push(REFUSED);
      return;
    }
    const shown = written.trim().replaceAll('\0', '').slice(0, SHOWN_EMAIL_LENGTH_MAX);
    this.#rows.push({ row, email: shown === '' ? null : shown, error: `The row ${fault}` });
  }

  /** The rows since the last call. */
  take(): ImportFile {
    const rows = this.#rows;
    applyToAllRows(rows, this.#leavers);
    [this.#rows, this.#leavers, this.#characters] = [[], new Set(), 0];
    return { topicKeys: [...this.topicKeys], firstValues: this.firstValues, rows };
  }
}

/** Reads the rows of a file into a collector. */
class RowReader {
  readonly #collector: RowCollector;
  #readData: ((cells: string[]) => string | undefined) | undefined;

  constructor(collector: RowCollector) {
    this.#collector = collector;
  }

  /** @throws ImportFileError when the row leaves open whether the person is subscribed */
  read(cells: string[], columns: Columns, row: number): void {
    this.#readData ??= createDataReader(columns.data, this.#collector.firstValues);
    const written = cells[columns.email] ?? '';
    const email = normalizeAddress(columns.exported ? withoutApostrophe(written) : written);
    const refuse = (fault: string): void => this.#collector.refuse(row, cells[columns.email] ?? '', fault);
    const fault = faultOf(cells, columns, email);
    if (fault !== undefined) return refuse(fault);
    const subscription = readSubscription(cells, columns, row);
    if (!subscription) return refuse(choiceFault('subscribed'));
    const topics = readTopics(cells, columns);
    if (typeof topics === 'string') return refuse(choiceFault(`topic.${topics}`));
    const trackingAllowed = readTracking(cells, columns);
    if (trackingAllowed === null) return refuse(choiceFault('trackingAllowed'));
    if (cells.some((cell) => cell.includes('\0'))) return refuse('contains the NUL character');
    const contact = { row, email, ...subscription, topics, trackingAllowed };
    if (columns.exported) {
      const exported = readExported(columns.exported, cells);
      if (typeof exported === 'string') return refuse(`has a value for "${exported}" that is not understood`);
      return this.#addExported(contact, exported, refuse);
    }
    const data = this.#readData(cells);
    if (data === undefined) return refuse(DATA_FAULT);
    this.#collector.add({ ...contact, data });
  }

  #addExported(
    contact: Omit<ImportedContact, 'data'>,
    { values, choices, ...said }: Exclude<ReturnType<typeof readExported>, string>,
    refuse: (fault: string) => void,
  ): void {
    const data = JSON.stringify(values);
    if (utf8Bytes(data) > LIMITS.contactDataBytes) return refuse(DATA_FAULT);
    for (const [key, value] of Object.entries(values)) this.#collector.firstValues[key] ??= value;
    for (const key of Object.keys(choices)) this.#collector.topicKeys.add(key);
    this.#collector.add({ ...contact, ...said, topics: { ...choices, ...contact.topics }, data });
  }
}

/** Somebody who has left by one row of a file has left by all, in whatever order the rows are. */
function applyToAllRows(rows: ImportFile['rows'], leavers: ReadonlySet<string>): void {
  if (leavers.size === 0) return;
  for (const row of rows) {
    if (row !== null && 'data' in row && leavers.has(row.email))
      Object.assign(row, { subscribed: false, hasLeft: true });
  }
}

/**
 * Reads a whole file of contacts before any contact is stored, so a file that is not valid to its end changes nothing.
 * @param mappings what the caller says of columns
 * @throws ImportFileError saying why the file cannot be imported
 */
export async function readImportFile(content: Buffer, mappings: readonly ColumnMapping[] = []): Promise<ImportFile> {
  const first = await readImportParts(content, mappings, true).next();
  return first.value as ImportFile;
}

/**
 * As `readImportFile`, for a file of any size: part after part.
 * @param source the file, or its records
 * @param isWhole whether all rows are one part
 */
export async function* readImportParts(
  source: Buffer | AsyncIterable<string[][]>,
  mappings: readonly ColumnMapping[],
  isWhole = false,
): AsyncGenerator<ImportFile> {
  const collector = new RowCollector();
  const reader = new RowReader(collector);
  for await (const { columns, rows } of readTable(source, (cells) => readHeader(cells, mappings))) {
    for (const { key } of columns.topics) collector.topicKeys.add(key);
    for (const [cells, row] of rows) {
      if (cells) reader.read(cells, columns, row);
      else collector.refuse(row, '', NO_OBJECT);
      if (collector.isFull && !isWhole) yield collector.take();
    }
  }
  yield collector.take();
}
