import { compile, type FormatCallback, type FormatOptions } from 'html-to-text';
import { stripTags } from '../../pure/strip-tags.ts';

/**
 * The HTML parser searches its stack of open elements at every tag, so its time grows with the square of the tags. In a
 * document with more `<` than this (about a megabyte of ordinary newsletter), tags are only stripped, which is linear.
 */
const TAGS_MAX = 40_000;
/** In longer documents tags are only stripped as well: nobody reads so much plain text. */
const LAID_OUT_LENGTH_MAX = 2_000_000;
/** The layout of this many characters takes about ten milliseconds, the longest that it may block the process. */
export const CONVERTED_AT_ONCE_MAX = 32_000;
/** The depth of nested elements that are laid out. Nested tables stay well below; broken markup may not. */
const DEPTH_MAX = 100;
/** The library writes this where it stopped at that depth: a noncharacter, which no author uses. */
const TOO_DEEP = '\uFDEF';
/** The library fails on Roman numerals from 4000 on. A list that would reach them is numbered in digits. */
const LIST_NUMBER_MAX = 3_999;

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
/** Elements that the library does not treat as blocks, with an empty line around them. */
const APART = ['section', 'address', 'figure', 'dl', 'fieldset', 'table'];
/** Such elements with a line break around them. */
const ON_OWN_LINES = ['center', 'figcaption', 'dt', 'dd', 'caption', 'thead', 'tbody', 'tfoot', 'tr'];
const HIDDEN = ['[hidden]', '[style*="display:none"i]', '[style*="display: none"i]'];
const WITHOUT_TEXT = ['script', 'style', 'title', 'template', 'noscript', 'head', 'object', 'select', ...HIDDEN];

function attributesOf(element: { attribs?: unknown }): Partial<Record<string, string>> {
  return element.attribs ?? {};
}

/** An image becomes its `alt` text, or nothing without one. */
const describeImage: FormatCallback = (element, _walk, builder) => {
  const description = attributesOf(element)['alt'];
  if (typeof description === 'string') builder.addInline(description);
};

/** The cells of a row are on one line, separated by spaces. Blocks inside a cell break the line. */
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

/** Only broken HTML has links inside links. The outermost one is kept, because each level costs time for every word. */
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
    { selector: 'a', format: 'linkOnce', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['<', '>'] } },
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
 * Converts HTML into the text of a text/plain part: no wrapping, links as `text <url>` (RFC 3986 appendix C), images as
 * their `alt` text, table rows as lines, hidden elements left out. It accepts any input, and its time is proportional to the length: in
 * very long documents, and in those with very many or very deep tags, tags are only stripped. It blocks the process
 * briefly up to CONVERTED_AT_ONCE_MAX; `convertHtml` handles longer documents without blocking.
 */
export function htmlToText(html: string): string {
  const isLaidOut = html.length <= LAID_OUT_LENGTH_MAX && !hasMoreTagsThan(html, TAGS_MAX);
  const text = isLaidOut ? convert(html) : TOO_DEEP;
  return (text.includes(TOO_DEEP) ? stripTags(html) : text).replaceAll('\u00A0', ' ');
}

/** As `htmlToText`, but always fast: in a document above CONVERTED_AT_ONCE_MAX tags are only stripped. */
export function htmlToTextQuickly(html: string): string {
  return html.length <= CONVERTED_AT_ONCE_MAX ? htmlToText(html) : stripTags(html).replaceAll('\u00A0', ' ');
}

/** Options for the distance of a block from its neighbours: two line breaks make one empty line. */
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
