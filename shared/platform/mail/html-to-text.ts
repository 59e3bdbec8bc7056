import { compile, type FormatCallback, type FormatOptions } from 'html-to-text';
import { stripTags } from './strip-tags.ts';

/**
 * The HTML parser looks through its stack of open elements at every tag, so its time grows with their number squared.
 * Beyond this many `<` (about a megabyte of ordinary newsletter) markup is only stripped, which is linear.
 */
const TAGS_MAX = 40_000;
/** Longer documents are only stripped as well, because nobody reads so much plain text. */
const LAID_OUT_LENGTH_MAX = 2_000_000;
/** Laying out this much takes some ten milliseconds: as long as the process may do nothing else. */
export const CONVERTED_AT_ONCE_MAX = 32_000;
/** Elements inside elements that are laid out; tables in tables stay well below, broken markup may not. */
const DEPTH_MAX = 100;
/** Left by the library where it stopped at that depth: a noncharacter, so nothing that people write. */
const TOO_DEEP = '\uFDEF';
/** The library fails on Roman numerals from 4000 on; lists that would come so far are numbered in digits. */
const LIST_NUMBER_MAX = 3_999;

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
/** Blocks the library does not know, with an empty line around them. */
const APART = ['section', 'address', 'figure', 'dl', 'fieldset', 'table'];
/** The same, on lines of their own only. */
const ON_OWN_LINES = ['center', 'figcaption', 'dt', 'dd', 'caption', 'thead', 'tbody', 'tfoot', 'tr'];
const HIDDEN = ['[hidden]', '[style*="display:none"i]', '[style*="display: none"i]'];
const WITHOUT_TEXT = ['script', 'style', 'title', 'template', 'noscript', 'head', 'object', 'select', ...HIDDEN];

function attributesOf(element: { attribs?: unknown }): Partial<Record<string, string>> {
  return element.attribs ?? {};
}

/** A picture becomes its description, or nothing without one. */
const describeImage: FormatCallback = (element, _walk, builder) => {
  const description = attributesOf(element)['alt'];
  if (typeof description === 'string') builder.addInline(description);
};

/** Cells of a row stand side by side; blocks inside of them break the line by themselves. */
const separateCells: FormatCallback = (element, walk, builder) => {
  builder.addInline(' ');
  walk(element.children, builder);
  builder.addInline(' ');
};

const numberItems: FormatCallback = (element, walk, builder, formatOptions) => {
  const wanted = Number.parseInt(attributesOf(element)['start'] ?? '', 10);
  const start = wanted >= 0 && wanted <= LIST_NUMBER_MAX ? wanted : 1;
  const isShort = start + element.children.length <= LIST_NUMBER_MAX;
  element.attribs = { start: String(start), type: isShort ? attributesOf(element)['type'] : '1' };
  builder.options.formatters.orderedList?.(element, walk, builder, formatOptions);
};

/** Only broken HTML has links inside links. The outermost one counts, because each level costs time for every word. */
const linkOnce: FormatCallback = (element, walk, builder, formatOptions) => {
  let outer = element.parent;
  while (outer && outer.name !== 'a') outer = outer.parent;
  if (outer) walk(element.children, builder);
  else builder.options.formatters.anchor?.(element, walk, builder, formatOptions);
};

const convert = compile({
  wordwrap: false,
  limits: { maxDepth: DEPTH_MAX, ellipsis: TOO_DEEP, maxInputLength: LAID_OUT_LENGTH_MAX },
  formatters: { describeImage, separateCells, numberItems, linkOnce },
  selectors: [
    { selector: 'a', format: 'linkOnce', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['(', ')'] } },
    { selector: 'img', format: 'describeImage' },
    { selector: 'ol', format: 'numberItems' },
    { selector: 'hr', options: { length: 40 } },
    ...HEADINGS.map((selector) => ({ selector, options: { uppercase: false, leadingLineBreaks: 2 } })),
    ...APART.map((selector) => ({ selector, format: 'block', options: lineBreaks(2) })),
    ...ON_OWN_LINES.map((selector) => ({ selector, format: 'block', options: lineBreaks(1) })),
    { selector: 'td', format: 'separateCells' },
    { selector: 'th', format: 'separateCells' },
    ...WITHOUT_TEXT.map((selector) => ({ selector, format: 'skip' })),
  ],
});

/**
 * Turns HTML into the text of a text/plain part: no wrapping, links as `text (url)`, pictures as their description,
 * table rows as lines, hidden elements left out. Takes anything, however broken, and in time that stays in proportion:
 * very long documents, and those with very many tags or very deep ones, are only stripped of them. Up to
 * CONVERTED_AT_ONCE_MAX it is done at once; `convertHtml` does more without holding up the process.
 */
export function htmlToText(html: string): string {
  const isLaidOut = html.length <= LAID_OUT_LENGTH_MAX && !hasMoreTagsThan(html, TAGS_MAX);
  const text = isLaidOut ? convert(html) : TOO_DEEP;
  return (text.includes(TOO_DEEP) ? stripTags(html) : text).replaceAll('\u00A0', ' ');
}

/** As `htmlToText`, but fast: a document that would take longer than a moment is only stripped of its tags. */
export function htmlToTextQuickly(html: string): string {
  return html.length <= CONVERTED_AT_ONCE_MAX ? htmlToText(html) : stripTags(html).replaceAll('\u00A0', ' ');
}

/** The distance of a block from its neighbours: two line breaks make one empty line. */
function lineBreaks(count: number): FormatOptions {
  return { leadingLineBreaks: count, trailingLineBreaks: count };
}

function hasMoreTagsThan(html: string, limit: number): boolean {
  let count = 0;
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}
