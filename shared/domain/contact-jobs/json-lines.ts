import { withApostrophe } from '../../pure/formula.ts';
import { yieldNow } from '../../platform/yielding.ts';
import { encodingOf, ImportFileError, wholeTextOf } from './csv-file.ts';

/** The fields of a line that an import reads, by the names that the columns of a CSV file have. */
const FIELDS: Readonly<Record<string, string>> = {
  email: 'email',
  subscribed: 'subscribed',
  topics: 'topics',
  data: 'data.*',
  unsubscribedAt: 'unsubscribedAt',
  reason: 'reason',
  pausedUntil: 'pausedUntil',
  trackingAllowed: 'trackingAllowed',
};

/** Whether a file is JSON, such as the lines of `GET /contacts/export`: no name of a column begins with a brace. */
export function isJsonLines(content: Buffer): boolean {
  return /^\s*(?:\[\s*)?\{/.test(new TextDecoder(encodingOf(content)).decode(content.subarray(0, 64)));
}

/** Why a line is refused of which no object is read. */
export const NO_OBJECT = 'is not an object in JSON';

/**
 * The object of a line; undefined for one that has none, which is refused alone.
 * @throws ImportFileError when it is the first one: then the file has another form, such as that of a list
 */
export function objectOfLine(line: string, isFirst: boolean): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // It is refused below.
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject) return value as Record<string, unknown>;
  if (isFirst) {
    throw new ImportFileError('The first line is not a JSON object: each contact is one, on a line of its own');
  }
  return undefined;
}

function cellsOf(fields: Record<string, unknown>): string[] {
  return Object.keys(FIELDS).map((name) => {
    const value = fields[name] ?? '';
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    // An address as CSV has it, where an apostrophe stands before a formula.
    return name === 'email' ? withApostrophe(text) : text;
  });
}

const LINES_AT_A_TIME = 500;

/**
 * As `fileRecords`, for JSON lines: the first record has the names, and each further one the values of a line, or
 * nothing of one without an object.
 * @throws ImportFileError as `objectOfLine`
 */
export async function* jsonRecords(content: Buffer): AsyncGenerator<(string[] | undefined)[]> {
  yield [Object.values(FIELDS)];
  let isFirst = true;
  const recordOf = (line: string): string[] | undefined => {
    if (line === '') return [''];
    const fields = objectOfLine(line, isFirst);
    isFirst = false;
    return fields && cellsOf(fields);
  };
  const lines = (await wholeTextOf(content)).split('\n');
  for (let at = 0; at < lines.length; at += LINES_AT_A_TIME) {
    const some = lines.slice(at, at + LINES_AT_A_TIME).map((line) => line.trim());
    yield some.map(recordOf);
    await yieldNow();
  }
}
