/** A double keeps so many digits. Longer numbers are kept as text, for they are identifiers. */
const DIGITS_MAX = 15;
/** Numbers with a leading zero or plus are kept as text: they are postcodes or telephone numbers. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const TRUE_WORDS: ReadonlySet<string> = new Set(['true', 'yes', 'y', '1']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['false', 'no', 'n', '0']);

/**
 * The value of a cell of custom data: a boolean for `true` and `false` in any case, a plain number, or else its text.
 */
export function readCell(cell: string): string | number | boolean {
  const trimmed = cell.trim();
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
