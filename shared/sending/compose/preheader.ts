import { LIMITS } from '../../pure/limits.ts';
import { escapeHtml } from '../../pure/templates/template-language.ts';

const HIDDEN =
  'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px;mso-hide:all';
/** Invisible characters that fill the preview. Without them the beginning of the body would follow the preheader. */
const PADDING = '&#847;&zwnj;&nbsp;';
/** The longest preview that mail programs show, in characters. */
const SHOWN_LENGTH = 150;

/**
 * The hidden HTML of a rendered preheader, which mail programs show beside the subject. Empty when the text is blank.
 */
export function preheaderHtml(rendered: string): string {
  const text = rendered
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, LIMITS.preheaderLength)
    .toWellFormed();
  if (text === '') return '';
  const padding = PADDING.repeat(Math.max(0, SHOWN_LENGTH - text.length));
  return `<div style="${HIDDEN}">${escapeHtml(text)}${padding}</div>`;
}

/** The content of a document begins after fewer characters, and ends before fewer. A body may have megabytes. */
const OUTSIDE_LENGTH_MAX = 1_000_000;

/** HTML in lower case with every character in its place. The lower case of "İ" has two characters. */
const inLowerCase = (html: string): string => html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** The start of the visible content of a document: after `<body>`, or after the next best tag. */
export function contentStartOf(html: string): number {
  const lower = inLowerCase(html.slice(0, OUTSIDE_LENGTH_MAX));
  for (const tag of ['<body', '</head', '<html', '<!doctype']) {
    const start = lower.indexOf(tag);
    const end = start === -1 ? -1 : lower.indexOf('>', start);
    if (end !== -1) return end + 1;
  }
  return 0;
}

/** The end of the visible content of a document: before `</body>`, or at its end. */
export function contentEndOf(html: string): number {
  const searchedFrom = Math.max(0, html.length - OUTSIDE_LENGTH_MAX);
  const end = inLowerCase(html.slice(searchedFrom)).lastIndexOf('</body>');
  return end === -1 ? html.length : searchedFrom + end;
}
