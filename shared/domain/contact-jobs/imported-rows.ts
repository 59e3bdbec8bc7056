import type { LeftElsewhere } from '../../pure/events/subscription-reasons.ts';
import type { TopicChoices } from '../../pure/topics.ts';
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

/** A part of a large file has so many rows, or about so many characters: a second of work, and a file of a few MB. */
const PART = { rows: 20_000, characters: 4 * 1024 * 1024 } as const;

/** What rows of a file say that concerns all its rows. */
export class RowNotes {
  /** The keys of the topics that columns and rows name. */
  readonly topicKeys = new Set<string>();
  readonly firstValues = Object.create(null) as Record<string, unknown>;
  /** The addresses of people who have left, by any of the rows. */
  readonly leavers = new Set<string>();

  add({ email, hasLeft, topics = {}, data }: ImportedContact): void {
    for (const [key, value] of Object.entries(JSON.parse(data) as object)) this.firstValues[key] ??= value;
    for (const key of Object.keys(topics)) this.topicKeys.add(key);
    if (hasLeft) this.leavers.add(email);
  }
}

/** Collects the rows of a file part by part. */
export class RowCollector {
  readonly #rowsMax: number;
  #rows: ImportFile['rows'] = [];
  #describedCount = 0;
  #characters = 0;

  constructor(rowsMax: number = PART.rows) {
    this.#rowsMax = rowsMax;
  }

  get isFull(): boolean {
    return this.#rows.length >= this.#rowsMax || this.#characters >= PART.characters;
  }

  add(row: ImportedContact | RefusedRow): void {
    if ('error' in row) {
      this.#describedCount += 1;
      this.#rows.push(this.#describedCount > DESCRIBED_ROWS_MAX ? REFUSED : row);
      return;
    }
    this.#rows.push(row);
    this.#characters += row.data.length + row.email.length;
  }

  /** The rows since the last call. */
  take(leavers: ReadonlySet<string>): ImportFile['rows'] {
    const rows = this.#rows;
    applyToAllRows(rows, leavers);
    [this.#rows, this.#characters] = [[], 0];
    return rows;
  }
}

/** @param written the address as it is in the file */
export function refusedRow(row: number, written: string, fault: string): RefusedRow {
  const shown = written.trim().replaceAll('\0', '').slice(0, SHOWN_EMAIL_LENGTH_MAX);
  return { row, email: shown === '' ? null : shown, error: `The row ${fault}` };
}

/** Somebody who has left by one row of a file has left by all, in whatever order the rows are. */
function applyToAllRows(rows: ImportFile['rows'], leavers: ReadonlySet<string>): void {
  if (leavers.size === 0) return;
  for (const row of rows) {
    if (row !== null && 'data' in row && leavers.has(row.email))
      Object.assign(row, { subscribed: false, hasLeft: true });
  }
}

/** The rows since the last part; who has left by one of them has left by all of them. */
export function takePart(collector: RowCollector, { topicKeys, firstValues, leavers }: RowNotes): ImportFile {
  const rows = collector.take(leavers);
  leavers.clear();
  return { topicKeys: [...topicKeys], firstValues, rows };
}
