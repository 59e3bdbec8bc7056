/** A double keeps so many digits. Longer numbers are kept as text, for they are identifiers. */
const DIGITS_MAX = 15;
/** Numbers with a leading zero or plus are kept as text: they are postcodes or telephone numbers. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
const TRUE_WORDS: ReadonlySet<string> = new Set(['true', 'yes', 'y', '1']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['false', 'no', 'n', '0']);

/** Deeper JSON is kept as text, as is JSON with characters that PostgreSQL cannot store. */
const DEPTH_MAX = 100;
const JSON_CELL = /^(?:\{[^]*\}|\[[^]*\])$/;

function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  if (depth > DEPTH_MAX) return false;
  return Object.entries(value).every(([key, part]) => isStorable(key) && isStorable(part, depth + 1));
}

/** The object or array that a cell holds as JSON; undefined for any other text. */
function readJson(trimmed: string): object | undefined {
  if (!JSON_CELL.test(trimmed)) return undefined;
  try {
    const value = JSON.parse(trimmed) as object;
    return isStorable(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The value of a cell of custom data: a boolean for `true` and `false` in any case, a plain number, an object or array
 * for its JSON, or else its text.
 */
export function readCell(cell: string): string | number | boolean | object {
  const trimmed = cell.trim();
  const first = trimmed.charCodeAt(0);
  if (first === OPENING_BRACE || first === OPENING_BRACKET) return readJson(trimmed) ?? cell;
  if (trimmed.length <= DIGITS_MAX + 2 && NUMBER.test(trimmed)) {
    const digits = trimmed.replaceAll(/[-.]/g, '').length;
    if (digits <= DIGITS_MAX) return Number(trimmed);
  }
  if (trimmed.length === 4 && trimmed.toLowerCase() === 'true') return true;
  if (trimmed.length === 5 && trimmed.toLowerCase() === 'false') return false;
  return cell;
}

/** The value of a cell in the column `subscribed`; undefined for an unknown word. */
export function readSubscribed(cell: string): boolean | undefined {
  const word = cell.trim().toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  return FALSE_WORDS.has(word) ? false : undefined;
}
