import { isUtf8 } from 'node:buffer';
import { withApostrophe } from '../../pure/formula.ts';
import { createYields } from '../../platform/yielding.ts';
import { ImportFileError } from './csv-file.ts';

/** The fields of a line that an import reads, by the names that the columns of a CSV file have. */
const FIELDS: Readonly<Record<string, string>> = {
  ...{ email: 'email', subscribed: 'subscribed', topics: 'topics', data: 'data.*', unsubscribedAt: 'unsubscribedAt' },
  ...{ reason: 'reason', pausedUntil: 'pausedUntil', trackingAllowed: 'trackingAllowed' },
};

/** Whether a file is JSON lines, as `GET /contacts/export` writes them: no name of a column begins with a brace. */
export function isJsonLines(content: Buffer): boolean {
  return /^(?:\u00EF\u00BB\u00BF)?\s*\{/.test(content.subarray(0, 64).toString('latin1'));
}

function cellsOf(line: string, row: number): string[] {
  try {
    const fields = JSON.parse(line) as Record<string, string | number | boolean | object | null>;
    return Object.keys(FIELDS).map((name) => {
      const value = fields[name] ?? '';
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      // An address as CSV has it, where an apostrophe stands before a formula.
      return name === 'email' ? withApostrophe(text) : text;
    });
  } catch {
    throw new ImportFileError(`Line ${row} is not a JSON object`);
  }
}

/** As `readCsv`, for JSON lines: the first record has the names, and each further one the values of a line. */
export async function readJsonLines(content: Buffer, onRecord: (cells: string[]) => unknown): Promise<void> {
  if (!isUtf8(content)) throw new ImportFileError('The file is not text in UTF-8');
  if (onRecord(Object.values(FIELDS)) === false) return;
  const yieldIfDue = createYields();
  const text = content.toString('utf8').replace(/^\uFEFF/, '');
  for (let at = 0, row = 1; at < text.length; row += 1) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    const line = text.slice(at, end).trim();
    onRecord(line === '' ? [''] : cellsOf(line, row));
    at = end + 1;
    await yieldIfDue();
  }
}
