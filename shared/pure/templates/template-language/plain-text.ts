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

/** HTML whose tags stand as marks, and the tags by the numbers in their marks. */
export interface MarkedHtml {
  html: string;
  tags: Token[];
}

/**
 * Derives the tree of the text/plain part from the tokens of an HTML template: the template is converted once, each tag
 * standing as a mark, and the tags are put back into the text. This is the first half, before the conversion. Undefined
 * where the text has to be made from each rendered message: when a loop makes the items of a numbered list.
 */
export function markTags(tokens: readonly Token[], source: string): MarkedHtml | undefined {
  const hasLoop = tokens.some((token) => token.type === 'open' && token.kind === 'each');
  return hasLoop && /<ol[\s>]/i.test(source) ? undefined : markAll(tokens);
}

/**
 * The second half. Undefined, as above, when blocks were torn apart by the conversion (half of one in an attribute or a
 * comment).
 */
export function unmarkTags(converted: string, { tags }: MarkedHtml, source: string): TemplateNode[] | undefined {
  const text = converted.replace(BLOCK_ONLY_LINE, (_line, blocks: string) => blocks.replace(/[ \t>]/g, ''));
  try {
    return parseTokens(tokensOf(text, tags), source);
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return undefined;
    throw error;
  }
}

/** Equal placeholders share a mark, so that the converter sees a link whose text is its own address as such. */
function markAll(tokens: readonly Token[]): MarkedHtml {
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

function tokensOf(text: string, tags: readonly Token[]): Token[] {
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
