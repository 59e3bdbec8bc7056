/** The characters with which spreadsheets begin a formula, as a class of a regular expression, also of PostgreSQL. */
const START = String.raw`[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]`;

/** Matches a text that a spreadsheet would run as a formula. */
export const FORMULA = new RegExp(String.raw`^\s*${START}|^[\t\r\n]`);

/** As a pattern of PostgreSQL: a text that a spreadsheet would run as a formula, also after apostrophes. */
export const FORMULA_AFTER_APOSTROPHES = String.raw`^'*(?:\s*${START}|[\t\r\n])`;

const BEFORE = new RegExp(String.raw`^(?='*\s*${START})`);
const APOSTROPHE = new RegExp(String.raw`^'(?='*\s*${START})`);

/** Puts an apostrophe before a formula, as exports do. Those before it stay, so that `withoutApostrophe` is exact. */
export function withApostrophe(text: string): string {
  return text.replace(BEFORE, "'");
}

/** Takes off the apostrophe that an export puts before a formula. */
export function withoutApostrophe(text: string): string {
  return text.replace(APOSTROPHE, '');
}
