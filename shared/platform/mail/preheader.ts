import { LIMITS } from '../../pure/limits.ts';
import { escapeHtml } from '../../pure/templates/template-language.ts';

const HIDDEN =
  'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px;mso-hide:all';
/** Characters that nobody sees and mail programs show; without them the beginning of the body would follow the text. */
const PADDING = '&#847;&zwnj;&nbsp;';
/** Mail programs show up to about this many characters. */
const SHOWN_LENGTH = 150;

/**
 * A rendered preheader as hidden HTML: lists of emails show it beside the subject. Empty for a text without characters.
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

/** Where the visible content of a document begins: behind its `<body>`, or what stands in place of it. */
export function contentStartOf(html: string): number {
  const lower = html.toLowerCase();
  for (const tag of ['<body', '</head', '<html', '<!doctype']) {
    const start = lower.indexOf(tag);
    const end = start === -1 ? -1 : html.indexOf('>', start);
    if (end !== -1) return end + 1;
  }
  return 0;
}
