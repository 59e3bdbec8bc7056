import { FORBIDDEN_KEY, RESERVED_DATA_KEYS } from '../../pure/contacts/custom-data.ts';
import { comparable, standingColumn, type StandingColumn } from '../../pure/contacts/subscription-columns.ts';
import { LIMITS } from '../../pure/limits.ts';
import { COLUMNS_MAX, fileRecords, ImportFileError, isBlank } from './csv-file.ts';
import { isJsonLines, jsonRecords } from './json-lines.ts';

/** What the caller says that a column is: `email`, `subscribed`, `trackingAllowed`, `ignored`, `topic.<key>` or `data.<key>`. */
export interface ColumnMapping {
  column: string;
  becomes: string;
}

/** What one column of a file became, for the result of the import. */
export type ImportedColumn = ColumnMapping;

export interface DataColumn {
  index: number;
  key: string;
  /** The key in JSON with its colon. */
  prefix: string;
}

export interface TopicColumn {
  index: number;
  key: string;
}

/** A column that says who has left. */
export interface CheckedColumn extends StandingColumn {
  index: number;
  /** Its name as written. */
  column: string;
  /** Whether a value that is not understood refuses the file, because nothing else says who is subscribed. */
  isDecisive: boolean;
}

/** The header: the indexes of its columns. */
export interface Columns {
  count: number;
  email: number;
  subscribed: CheckedColumn | undefined;
  checked: CheckedColumn[];
  topics: TopicColumn[];
  /** The column that says who agrees to tracking. */
  tracking: number | undefined;
  data: DataColumn[];
  /** The columns of a file that Everpost has exported, by their names. Only such a file has `data.*`. */
  exported: ReadonlyMap<string, number> | undefined;
  /** What each column becomes, in the order of the file. */
  report: ImportedColumn[];
}

const TRACKING = 'trackingAllowed';
/** Kinds of columns by their names in small letters. */
const KINDS: ReadonlyMap<string, string> = new Map(
  ['email', 'subscribed', TRACKING].map((kind) => [kind.toLowerCase(), kind]),
);

/** The key of the topic that a name such as `topic.news` names; keys are lower-case. */
function topicIn(name: string): string | undefined {
  return /^topic[.](.+)$/.exec(name.toLowerCase())?.[1];
}

/** Two names, the colon, and `data.`. */
export const MAPPING_LENGTH_MAX = 2 * LIMITS.contactDataKeyLength + 10;

/**
 * Reads what a caller writes as `map`, such as `Email Address:email`. The target follows the last colon; one that is no
 * kind of column is a key of the data, with or without `data.` before it.
 * @returns undefined when it has no such form
 */
export function readColumnMapping(text: string): ColumnMapping | undefined {
  if (text.length > MAPPING_LENGTH_MAX || text.includes('\0') || !text.isWellFormed()) return undefined;
  const at = text.lastIndexOf(':');
  const [column, target] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (at < 0 || column === '') return undefined;
  const lowered = target.toLowerCase();
  const kind = KINDS.get(lowered);
  if (kind !== undefined) return { column, becomes: kind };
  if (['', 'ignore', 'ignored'].includes(lowered)) return { column, becomes: 'ignored' };
  if (topicIn(target) !== undefined) return { column, becomes: lowered };
  const key = target.replace(/^data\./, '');
  const isKey = key.length <= LIMITS.contactDataKeyLength && !['', FORBIDDEN_KEY].includes(key);
  return isKey && !RESERVED_DATA_KEYS.has(key) ? { column, becomes: `data.${key}` } : undefined;
}

/** Names of the column of addresses, the likelier ones first. */
const ADDRESS_NAMES = [
  /^email$/,
  /^(?:e?mails?|(?:subscriber|contact|primary|user|customer|recipient|person|your|work)?e?mail(?:address|id)?|adresseemail|adressemail|courriel|correo(?:electronico)?|e?mailadress?en?|epost|eposta)$/,
  /^(?:subscriber|recipient)$/,
];

function addressColumn(names: readonly string[], isFree: (index: number) => boolean): number {
  for (const pattern of ADDRESS_NAMES) {
    const found = names.flatMap((name, index) => (isFree(index) && pattern.test(comparable(name)) ? [index] : []));
    const [first, second] = found.map((index) => names[index]);
    if (second !== undefined) {
      throw new ImportFileError(
        `The header has the columns "${first}" and "${second}" for the address: choose one with map=${first}:email`,
      );
    }
    if (found[0] !== undefined) return found[0];
  }
  throw new ImportFileError('The header has no column "email": name the column of addresses with map=<column>:email');
}

/** What the caller says of each column, by its index. */
function mappedColumns(names: readonly string[], mappings: readonly ColumnMapping[]): Map<number, string> {
  const mapped = new Map<number, string>();
  for (const { column, becomes } of mappings) {
    const exact = names.indexOf(column);
    const index = exact >= 0 ? exact : names.findIndex((name) => name.toLowerCase() === column.toLowerCase());
    if (index < 0) throw new ImportFileError(`The file has no column "${column}", which map names`);
    if (mapped.has(index)) throw new ImportFileError(`map names the column "${names[index]}" twice`);
    mapped.set(index, becomes);
  }
  return mapped;
}

function assertNames(names: readonly string[]): void {
  if (names.length > COLUMNS_MAX) throw new ImportFileError(`The header has more than ${COLUMNS_MAX} columns`);
  const seen = new Set<string>();
  names.forEach((name, index) => {
    if (name === '') return;
    if (name.includes('\0')) throw new ImportFileError('The header contains the NUL character');
    if (name.length > LIMITS.contactDataKeyLength) {
      throw new ImportFileError(
        `The name of column ${index + 1} is longer than ${LIMITS.contactDataKeyLength} characters`,
      );
    }
    const column = KINDS.get(name.toLowerCase()) ?? name;
    if (seen.has(column)) throw new ImportFileError(`The header names the column "${column}" twice`);
    seen.add(column);
  });
}

/** The index of the column that the caller gave a meaning. @throws ImportFileError when there are two */
function columnMappedTo(becomes: string, mapped: ReadonlyMap<number, string>): number | undefined {
  const [found, other] = [...mapped].flatMap(([index, target]) => (target === becomes ? [index] : []));
  if (other === undefined) return found;
  throw new ImportFileError(`map names two columns that become "${becomes}"`);
}

/**
 * Finds the addresses in a file of which nothing else is read but one other column.
 * @throws ImportFileError when it is not clear which column has the addresses
 */
export function readAddressHeader(cells: readonly string[], mappings: readonly ColumnMapping[], otherName: string) {
  const names = cells.slice(0, COLUMNS_MAX).map((cell) => cell.trim());
  const mapped = mappedColumns(names, mappings);
  const email = columnMappedTo('email', mapped) ?? addressColumn(names, (index) => !mapped.has(index));
  /** The column of that name; -1 when there is none. */
  const other =
    columnMappedTo(`data.${otherName}`, mapped) ?? names.findIndex((name) => name.toLowerCase() === otherName);
  return { email, other };
}

/** The columns of an export that an import reads, beside those that any file may have. */
export const EXPORTED_COLUMNS = ['data.*', 'topics', 'unsubscribedAt', 'reason', 'pausedUntil'] as const;
/** Those that it leaves out, because the new contact has its own. */
const OWN_COLUMNS = ['id', 'pending', 'createdAt', 'updatedAt'];

/** Which column of a file of contacts is what, by what the caller says and by their names. */
class HeaderReader {
  readonly #names: readonly string[];
  readonly #mapped: ReadonlyMap<number, string>;

  constructor(cells: readonly string[], mappings: readonly ColumnMapping[]) {
    this.#names = cells.map((cell) => cell.trim());
    assertNames(this.#names);
    this.#mapped = mappedColumns(this.#names, mappings);
  }

  /** The column that is given this kind, or has it as its name. */
  #columnOf(kind: string): number | undefined {
    const isNamed = (name: string, at: number): boolean =>
      KINDS.get(name.toLowerCase()) === kind && !this.#mapped.has(at);
    const index = columnMappedTo(kind, this.#mapped) ?? this.#names.findIndex(isNamed);
    return index < 0 ? undefined : index;
  }

  #subscribedColumn(): CheckedColumn | undefined {
    const index = this.#columnOf('subscribed');
    if (index === undefined) return undefined;
    const checked = this.#checked(index, false);
    // A column such as "Unsubscribed" says the opposite, also when the caller maps it.
    if (checked?.kind === 'left' || checked?.kind === 'status') return checked;
    return { index, column: this.#names[index] ?? '', kind: 'flag', name: 'subscribed', isDecisive: false };
  }

  #checked(index: number, isDecisive: boolean): CheckedColumn | undefined {
    const column = this.#names[index] ?? '';
    const standing = standingColumn(column);
    return standing && { ...standing, index, column, isDecisive };
  }

  read(): Columns {
    const isFree = (index: number): boolean => !this.#mapped.has(index);
    const columns: Columns = {
      count: this.#names.length,
      email: columnMappedTo('email', this.#mapped) ?? addressColumn(this.#names, isFree),
      subscribed: this.#subscribedColumn(),
      checked: [],
      topics: [],
      tracking: this.#columnOf(TRACKING),
      data: [],
      exported: this.#names.includes('data.*')
        ? new Map(this.#names.flatMap((name, index) => (isFree(index) ? [[name, index] as const] : [])))
        : undefined,
      report: [],
    };
    this.#names.forEach((column, index) => {
      columns.report.push({
        column,
        becomes: this.#topicOf(index, columns) ?? this.#exportedOf(index, columns) ?? this.#meaningOf(index, columns),
      });
    });
    this.#assertKeysDiffer(columns.data, 'data');
    this.#assertKeysDiffer(columns.topics, 'topic');
    return columns;
  }

  #topicOf(index: number, columns: Columns): string | undefined {
    const key = topicIn(this.#mapped.get(index) ?? this.#names[index] ?? '');
    if (key === undefined) return undefined;
    columns.topics.push({ index, key });
    return `topic.${key}`;
  }

  /** What a column is in a file that Everpost has exported; undefined when it is as in any other file. */
  #exportedOf(index: number, { exported }: Columns): string | undefined {
    const name = this.#names[index] ?? '';
    if (!exported?.has(name)) return undefined;
    if ((EXPORTED_COLUMNS as readonly string[]).includes(name)) return name;
    return OWN_COLUMNS.includes(name) ? 'ignored' : undefined;
  }

  #meaningOf(index: number, columns: Columns): string {
    const name = this.#names[index] ?? '';
    const given = this.#mapped.get(index);
    const kind = new Map([
      [columns.email, 'email'],
      [columns.subscribed?.index, 'subscribed'],
      [columns.tracking, TRACKING],
    ]).get(index);
    if (kind !== undefined) return kind;
    if (given === 'ignored' || name === '' || (given === undefined && RESERVED_DATA_KEYS.has(name))) return 'ignored';
    const checked = given === undefined ? this.#checked(index, columns.subscribed === undefined) : undefined;
    if (checked?.kind === 'left' || (checked?.isDecisive && (checked.kind === 'status' || checked.kind === 'flag'))) {
      columns.checked.push(checked);
      return 'subscribed';
    }
    // Beside a column that says who is subscribed, a status may be anything.
    if (checked)
      columns.checked.push({ ...checked, kind: checked.kind === 'state' ? 'state' : 'mention', isDecisive: false });
    const key = given?.replace(/^data\./, '') ?? name;
    if (key === FORBIDDEN_KEY) {
      throw new ImportFileError(`No data can have the key ${key}: leave the column out with map=${key}:ignored`);
    }
    columns.data.push({ index, key, prefix: `${JSON.stringify(key)}:` });
    return `data.${key}`;
  }

  #assertKeysDiffer(columns: readonly (DataColumn | TopicColumn)[], kind: 'data' | 'topic'): void {
    const byKey = new Map<string, number>();
    for (const { key, index } of columns) {
      const other = byKey.get(key);
      if (other !== undefined) {
        throw new ImportFileError(
          `The columns "${this.#names[other]}" and "${this.#names[index]}" both become ${kind}.${key}`,
        );
      }
      byKey.set(key, index);
    }
  }
}

/**
 * Says what each column of a file of contacts is.
 * @param cells the first record of the file that is not blank
 * @throws ImportFileError saying why the file cannot be imported
 */
export function readHeader(cells: readonly string[], mappings: readonly ColumnMapping[] = []): Columns {
  return new HeaderReader(cells, mappings).read();
}

/**
 * The header of a file with some of its records, each with its number in a spreadsheet, or that of its line of JSON. A line
 * of JSON that is no object has no cells.
 */
interface TablePart<Header> {
  columns: Header;
  rows: [cells: string[] | undefined, row: number][];
}

/**
 * Reads a file of contacts: its header, and the further records that are not blank, some at a time.
 * @param source the file, or the records of one of any size
 * @throws ImportFileError saying why the file cannot be read
 */
export async function* readTable<Header>(
  source: Buffer | AsyncIterable<string[][]>,
  readColumns: (cells: string[]) => Header,
): AsyncGenerator<TablePart<Header>, never> {
  const isJson = Buffer.isBuffer(source) && isJsonLines(source);
  let header: { columns: Header } | undefined;
  // The names of JSON lines stand on no line.
  let row = isJson ? -1 : 0;
  for await (const records of Buffer.isBuffer(source) ? (isJson ? jsonRecords : fileRecords)(source) : source) {
    const rows = records.map((cells): TablePart<Header>['rows'][number] => [cells, (row += 1)]);
    const filled = rows.filter(([cells]) => !cells || cells.length > COLUMNS_MAX || !isBlank(cells));
    const [names] = header ? [] : (filled.shift() ?? []);
    if (names) header = { columns: readColumns(names) };
    if (header) yield { ...header, rows: filled };
  }
  if (!header) throw new ImportFileError('The file is empty');
  return undefined as never;
}
