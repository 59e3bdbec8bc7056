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

function cellsOf(line: string, row: number): string[] {
  try {
    const fields = JSON.parse(line) as Record<string, string | number | boolean | object | null>;
    if (typeof fields !== 'object' || Array.isArray(fields)) throw new SyntaxError();
    return Object.keys(FIELDS).map((name) => {
      const value = fields[name] ?? '';
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      // An address as CSV has it, where an apostrophe stands before a formula.
      return name === 'email' ? withApostrophe(text) : text;
    });
  } catch {
    throw new ImportFileError(`Line ${row} is not a JSON object: each contact is one, on a line of its own`);
  }
}

const LINES_AT_A_TIME = 500;

/** As `fileRecords`, for JSON lines: the first record has the names, and each further one the values of a line. */
export async function* jsonRecords(content: Buffer): AsyncGenerator<string[][]> {
  yield [Object.values(FIELDS)];
  const lines = (await wholeTextOf(content)).split('\n');
  for (let at = 0; at < lines.length; at += LINES_AT_A_TIME) {
    const some = lines.slice(at, at + LINES_AT_A_TIME).map((line) => line.trim());
    yield some.map((line, index) => (line === '' ? [''] : cellsOf(line, at + index + 1)));
    await yieldNow();
  }
}
