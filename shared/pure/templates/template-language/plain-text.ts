import { TemplateSyntaxError } from './errors.ts';
import { parseSteps, type TemplateNode } from './parser.ts';
import type { Steps } from '../../steps.ts';
import type { Token } from './tokenizer.ts';

/** Converts HTML into plain text. Never throws. */
export type HtmlToText = (html: string) => string;

// Unicode noncharacters: no real text contains them, and an HTML converter keeps them as text.
const OUTPUT_MARK = '\uFDD0';
const BLOCK_MARK = '\uFDD1';
const END_MARK = '\uFDD2';
const MARKS = /[\uFDD0-\uFDD2]/g;
const MARKED_TAG = /[\uFDD0\uFDD1](\d{1,9})\uFDD2/g;
/** Lines that contain only block tags, quoted or not. Rendered, they would be empty lines. */
const BLOCK_ONLY_LINE = /^((?:[ \t>]*\uFDD1\d{1,9}\uFDD2)+)[ \t]*(?:\n|(?![^]))/gm;

/** HTML in which marks replace the template's tags. A mark contains the index of its tag in `tags`. */
export interface MarkedHtml {
  html: string;
  tags: Token[];
}

/**
 * Replaces the tags of an HTML template by marks. After the conversion into text, `unmarkSteps` puts the tags back,
 * which gives the template of the text/plain part. Undefined if a loop may print the items of a numbered list: then the
 * text must be made from each rendered message.
 */
export function markTags(tokens: readonly Token[], source: string): MarkedHtml | undefined {
  const hasLoop = tokens.some((token) => token.type === 'open' && token.kind === 'each');
  return hasLoop && /<ol[\s>]/i.test(source) ? undefined : markAll(tokens);
}

/**
 * The tree of the text/plain part, from converted HTML with marks. Undefined if the conversion has dropped only one end
 * of a block, such as one in an attribute or a comment: then the text must be made from each rendered message. Pauses
 * now and then.
 */
export function* unmarkSteps(
  converted: string,
  { tags }: MarkedHtml,
  source: string,
): Steps<TemplateNode[] | undefined> {
  const text = converted.replace(BLOCK_ONLY_LINE, (_line, blocks: string) => blocks.replace(/[ \t>]/g, ''));
  yield 'pause';
  try {
    return yield* parseSteps(tokensOf(text, tags), source);
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return undefined;
    throw error;
  }
}

/** Equal placeholders share a mark, so that the converter recognises a link whose text is its own address. */
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

/**
 * The tokens of converted text. Its parts are copied: because of the marks V8 keeps two octets for each of its characters,
 * also in a slice, and then for each character of every message that has the slice.
 */
function tokensOf(text: string, tags: readonly Token[]): Token[] {
  const tokens: Token[] = [];
  const addText = (part: string): void => {
    if (part !== '') tokens.push({ type: 'text', text: Buffer.from(part, 'utf16le').toString('utf16le') });
  };
  let textStart = 0;
  for (const match of text.matchAll(MARKED_TAG)) {
    // The author may have written a mark as an entity. If no tag has that number, it is text.
    const tag = tags[Number(match[1])];
    if (!tag) continue;
    addText(text.slice(textStart, match.index));
    tokens.push(tag);
    textStart = match.index + match[0].length;
  }
  addText(text.slice(textStart));
  return tokens;
}
