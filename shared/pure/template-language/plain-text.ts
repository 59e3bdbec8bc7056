import { TemplateSyntaxError } from './errors.ts';
import { parseTokens, type TemplateNode } from './parser.ts';
import type { Token } from './tokenizer.ts';

/** Turns HTML into plain text; must not fail on any input. */
export type HtmlToText = (html: string) => string;

// Unicode noncharacters: never part of real text, and neither white space nor markup for an HTML converter.
const OUTPUT_MARK = '\uFDD0';
const BLOCK_MARK = '\uFDD1';
const END_MARK = '\uFDD2';
const MARKS = /[\uFDD0-\uFDD2]/g;
const MARKED_TAG = /[\uFDD0\uFDD1](\d{1,9})\uFDD2/g;
/** Lines that hold nothing but block tags, quoted or not; printed, they would leave empty lines behind. */
const BLOCK_ONLY_LINE = /^((?:[ \t>]*\uFDD1\d{1,9}\uFDD2)+)[ \t]*(?:\n|(?![^]))/gm;

/**
 * Derives the tree of the text/plain part from the tokens of an HTML template: converts the template once, each tag
 * standing as a mark, and puts the tags back into the text. Returns undefined where that cannot print what converting
 * the rendered HTML would: when blocks were torn apart by the conversion (half of one in an attribute or a comment), and
 * when a loop makes the items of a numbered list.
 */
export function derivePlainText(
  tokens: readonly Token[],
  source: string,
  htmlToText: HtmlToText,
): TemplateNode[] | undefined {
  const hasLoop = tokens.some((token) => token.type === 'open' && token.kind === 'each');
  if (hasLoop && /<ol[\s>]/i.test(source)) return undefined;

  const marked = markTags(tokens);
  const text = htmlToText(marked.html).replace(BLOCK_ONLY_LINE, (_line, tags: string) => tags.replace(/[ \t>]/g, ''));
  try {
    return parseTokens(unmarkTags(text, marked.tags), source);
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return undefined;
    throw error;
  }
}

/** Equal placeholders share a mark, so that the converter sees a link whose text is its own address as such. */
function markTags(tokens: readonly Token[]): { html: string; tags: Token[] } {
  const tags: Token[] = [];
  const knownOutputs = new Map<string, string>();
  let html = '';
  for (const token of tokens) {
    if (token.type === 'text') {
      html += token.text.replace(MARKS, '');
    } else if (token.type === 'output') {
      const identity = `${token.isRaw} ${token.expression}`;
      const mark = knownOutputs.get(identity) ?? `${OUTPUT_MARK}${tags.push(token) - 1}${END_MARK}`;
      knownOutputs.set(identity, mark);
      html += mark;
    } else {
      html += `${BLOCK_MARK}${tags.push(token) - 1}${END_MARK}`;
    }
  }
  return { html, tags };
}

function unmarkTags(text: string, tags: readonly Token[]): Token[] {
  const tokens: Token[] = [];
  let textStart = 0;
  for (const match of text.matchAll(MARKED_TAG)) {
    // A mark can also come out of an entity the author wrote; without a tag of that number it is just text.
    const tag = tags[Number(match[1])];
    if (!tag) continue;
    if (match.index > textStart) tokens.push({ type: 'text', text: text.slice(textStart, match.index) });
    tokens.push(tag);
    textStart = match.index + match[0].length;
  }
  if (textStart < text.length) tokens.push({ type: 'text', text: text.slice(textStart) });
  return tokens;
}
