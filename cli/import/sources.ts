import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { readCell } from '../../shared/domain/contact-jobs/import-cells.ts';
import { readImportParts } from '../../shared/domain/contact-jobs/import-file.ts';
import type { ImportFile } from '../../shared/domain/contact-jobs/imported-rows.ts';
import { NO_OBJECT, objectOfLine } from '../../shared/domain/contact-jobs/json-lines.ts';
import type { ColumnMapping } from '../../shared/domain/contact-jobs/import-header.ts';
import { movedParts, type MovedRow } from '../../shared/domain/contact-jobs/moved-rows.ts';
import { csvRecords, ImportFileError, isBlank, linesOf } from '../../shared/domain/contact-jobs/csv-file.ts';
import { badRequest } from '../../shared/pure/app-error.ts';
import {
  objectOf,
  SourceRecord,
  type Moved,
  type MovedContact,
  type MovedList,
} from '../../shared/pure/moving/moved.ts';
import type { Tool } from '../../shared/pure/moving/tools.ts';
import { TOPIC_KEY_LENGTH_MAX } from '../../shared/pure/topics.ts';
import { COMPANION, readZip } from './zip.ts';

/** A file that is read, whole or from an archive. */
export interface SourceFile {
  name: string;
  read: () => AsyncIterable<Buffer>;
}

const PACKED = /\.gz(?:ip)?$/i;

/** The octets that are packed in a file. @throws AppError when it is damaged */
export async function* unpacked(name: string): AsyncGenerator<Buffer> {
  const [source, unzipped] = [createReadStream(name), createGunzip()];
  source.once('error', (error) => unzipped.destroy(error));
  try {
    yield* source.pipe(unzipped) as AsyncIterable<Buffer>;
  } catch (error) {
    throw badRequest(`${name} cannot be unpacked: ${(error as Error).message}`);
  }
}

/** The files of paths: a file itself, those of a folder or a ZIP archive, or with `-` the standard input. One that ends in `.gz` is unpacked. */
export async function openFiles(paths: readonly string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const each of paths) {
    if (each === '-') files.push({ name: '-', read: () => process.stdin });
    else if (!(await stat(each).catch(() => undefined))) throw badRequest(`There is no file ${each}`);
    else if ((await stat(each)).isDirectory()) {
      const names = (await readdir(each, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
      const inside = names.map(({ name, parentPath }) => path.join(parentPath, name));
      files.push(...(await openFiles(inside.filter((name) => !COMPANION.test(name)).sort())));
    } else if (/\.zip$/i.test(each)) files.push(...(await readZip(each)));
    else if (PACKED.test(each)) files.push({ name: each.replace(PACKED, ''), read: () => unpacked(each) });
    else files.push({ name: each, read: () => createReadStream(each) });
  }
  return files;
}

/** What exports are made of, and templates. */
const READ = /\.(?:csv|json|html?)$|^-$/i;

/** Others may lie in folders and archives. @throws AppError when one is named itself, or there is nothing else */
export function assertReadable(files: readonly SourceFile[], paths: readonly string[]): void {
  const other = files.find(({ name }) => !READ.test(name) && paths.includes(name));
  if (other) throw badRequest(`${other.name} cannot be read: exports are files .csv and .json, as they are or packed`);
  if (paths.length > 0 && !files.some(({ name }) => READ.test(name)))
    throw badRequest(`There is no file that can be read in ${paths.join(', ')}: exports are files .csv and .json`);
}

/** Contacts in JSON, one a line, with the fields of `POST /contacts`. @throws ImportFileError as `objectOfLine` */
async function* jsonLines(file: SourceFile): AsyncGenerator<MovedRow> {
  let isFirst = true;
  for await (const [line, row] of linesOf(file.read())) {
    const contact = objectOfLine(line, isFirst) as MovedContact | undefined;
    isFirst = false;
    yield contact ? { row, contact } : { row, email: '', fault: NO_OBJECT };
  }
}

/** The parts of a file of contacts: CSV as `POST /contacts/import` takes it, or JSON lines. */
export function contactParts(
  file: SourceFile,
  isJson: boolean,
  mappings: readonly ColumnMapping[],
): AsyncGenerator<ImportFile> {
  return isJson ? movedParts(jsonLines(file)) : readImportParts(csvRecords(file.read()), mappings);
}

/**
 * The key of the topic that a list becomes. A name that is not written in Latin letters adds a hash of itself.
 * @param identity tells the list from others, where the name alone does not
 */
export function topicKey(name: string, identity?: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  const isWhole = words.length > 0 && words.join('') === plain.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const end = isWhole && identity === undefined ? '' : `-${hash('sha256', identity ?? name.trim()).slice(0, 8)}`;
  const start = (words.join('-') || 'list').slice(0, TOPIC_KEY_LENGTH_MAX - end.length);
  return `${start.replace(/-$/, '')}${end}`;
}

/** What tells a list from others. Older ones sort first, and last those without an id, which another source may know. */
const identityOf = ({ id, name }: MovedList): string => (id === undefined ? `~${name}` : id.padStart(80, '0'));

/** The topic that a list becomes. */
interface ListTopic {
  list: MovedList;
  key: string;
  isUsed: boolean;
}

/** Makes rows of what a tool says, and gathers the topics that they need. */
export class ToolRows {
  /** The lists of the rows that become topics, by the keys of these. */
  readonly lists = new Map<string, MovedList>();
  /** The keys of the topics that the project has. */
  topicKeys: ReadonlySet<string> = new Set();
  readonly #listsAre: Tool['lists'];
  /** All lists that are known, by what tells them apart. */
  readonly #topics = new Map<string, ListTopic>();
  #row = 0;

  constructor(listsAre: Tool['lists']) {
    this.#listsAre = listsAre;
  }

  /** Gives all lists their keys again, older lists first, whatever the order of their people. @param more further lists */
  readonly order = (more: readonly MovedList[] = []): void => {
    const known = [...this.#topics.values()];
    for (const map of [this.lists, this.#topics]) map.clear();
    const lists = [...known.map(({ list }) => list), ...more].map((list) => [identityOf(list), list] as const);
    for (const [, list] of lists.sort(([one], [other]) => (one < other ? -1 : 1))) this.#keyOf(list, false);
    for (const { list, isUsed } of known) if (isUsed) this.#keyOf(list, true);
  };

  /**
   * Of lists with one key, the first has it, and the others add a hash of what tells them apart: otherwise people would
   * get what they have joined by another name, or have left. A list whose topic has the hash already keeps it.
   */
  #keyOf(list: MovedList, isUsed: boolean): string {
    const identity = identityOf(list);
    const topic = this.#topics.get(identity) ?? this.#newTopic(list, identity);
    this.#topics.set(identity, topic);
    topic.isUsed ||= isUsed;
    if (isUsed) this.lists.set(topic.key, topic.list);
    return topic.key;
  }

  /** The topic of a list that was not met before: without an id, that of another list with its name. */
  #newTopic(list: MovedList, identity: string): ListTopic {
    const others = [...this.#topics.values()];
    const same = list.id === undefined && others.find((other) => other.list.name === list.name);
    if (same) return same;
    const [plain, own] = [topicKey(list.name), topicKey(list.name, identity)];
    const isTaken = this.topicKeys.has(own) || others.some(({ key }) => key === plain);
    return { list, key: isTaken ? own : plain, isUsed: false };
  }

  /** @param row the number of the row in its file; without one they are counted */
  rowOf(moved: Exclude<Moved, undefined>, email: unknown, row = (this.#row += 1)): MovedRow {
    if (typeof moved === 'string') return { row, email: typeof email === 'string' ? email : '', fault: moved };
    const { contact, lists = [] } = moved;
    if (lists.length === 0) return { row, contact };
    if (this.#listsAre === 'field') {
      const names = lists.flatMap(([{ name }, isMember]) => (isMember ? [name] : []));
      return { row, contact: { ...contact, data: { ...objectOf(contact.data), lists: names } } };
    }
    const topics = Object.fromEntries(lists.map(([list, isMember]) => [this.#keyOf(list, true), isMember]));
    return { row, contact: { ...contact, topics } };
  }
}

/** The contacts of the exports of a tool. Files that say who has left come first. */
export async function* toolFiles(tool: Tool, files: readonly SourceFile[], rows: ToolRows): AsyncGenerator<MovedRow> {
  const isAboutLeaving = ({ name }: SourceFile): number => (tool.isAboutLeaving?.test(path.basename(name)) ? 0 : 1);
  for (const file of [...files].sort((one, other) => isAboutLeaving(one) - isAboutLeaving(other))) {
    const name = path.basename(file.name);
    if (/\.json$/i.test(name)) yield* toolItems(tool, file, rows);
    if (/\.csv$|^-$/i.test(name)) yield* toolRecords(tool, file, rows);
  }
}

/** The contacts of one export. @throws AppError naming the file when it cannot be read */
async function* toolRecords(tool: Tool, file: SourceFile, rows: ToolRows): AsyncGenerator<MovedRow> {
  let names: string[] | undefined;
  let row = 0;
  try {
    for await (const records of csvRecords(file.read())) {
      for (const cells of records) {
        row += 1;
        const fields = names?.map((each, at) => [each, cells[at] ?? ''] as const);
        const record = fields && new SourceRecord(Object.fromEntries(fields), path.basename(file.name));
        names ??= cells;
        if (!record || isBlank(cells)) continue;
        const isLong = cells.length > names.length && `has ${cells.length} cells, but the header has ${names.length}`;
        const moved = isLong || tool.read(record);
        if (moved !== undefined) yield rows.rowOf(withTypes(moved), record.email(), row);
      }
    }
  } catch (error) {
    throw error instanceof ImportFileError ? badRequest(`${file.name} cannot be read: ${error.message}`) : error;
  }
}

/** The items of an answer of an API that was saved: a list, or an object with it as `data` or `contacts`. */
async function* toolItems(tool: Tool, file: SourceFile, rows: ToolRows): AsyncGenerator<MovedRow> {
  const value = await json(file.read()).catch(() => {
    throw badRequest(`${file.name} is not JSON`);
  });
  const items = Array.isArray(value) ? value : (objectOf(value)?.['data'] ?? objectOf(value)?.['contacts']);
  if (!Array.isArray(items)) throw badRequest(`${file.name} has no list of contacts`);
  for (const [index, item] of (items as unknown[]).entries()) {
    const record = new SourceRecord(objectOf(item) ?? {}, path.basename(file.name));
    const moved = tool.read(record);
    if (moved !== undefined) yield rows.rowOf(moved, record.email(), index + 1);
  }
}

/** Numbers, true, false and JSON in cells, as an import of CSV reads them. */
function withTypes(moved: Exclude<Moved, undefined>): Exclude<Moved, undefined> {
  if (typeof moved === 'string') return moved;
  const entries = Object.entries(objectOf(moved.contact.data) ?? {});
  const data = entries.map(([key, value]) => [key, typeof value === 'string' ? readCell(value) : value]);
  return { ...moved, contact: { ...moved.contact, data: Object.fromEntries(data) as object } };
}
