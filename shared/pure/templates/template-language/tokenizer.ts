import { LIMITS } from '../../limits.ts';
import { syntaxErrorAt, TemplateLimitError } from './errors.ts';
import type { Steps } from '../../steps.ts';

export type BlockKind = 'if' | 'unless' | 'each';

/** Plain text of the template, printed as it is. */
interface TextToken {
  type: 'text';
  text: string;
}

/** `{{ expression }}` or, with `isRaw`, `{{{ expression }}}`. */
interface OutputToken {
  type: 'output';
  expression: string;
  isRaw: boolean;
}

interface BlockOpenToken {
  type: 'open';
  kind: BlockKind;
  path: string;
  offset: number;
}

interface BlockElseToken {
  type: 'else';
  offset: number;
}

interface BlockCloseToken {
  type: 'close';
  kind: BlockKind;
  offset: number;
}

/** Text or a tag of a template. `offset` is the position of its braces in the source, for error messages. */
export type Token = TextToken | OutputToken | BlockOpenToken | BlockElseToken | BlockCloseToken;

const OPEN = '{{';
const CLOSE = '}}';
/** The tags between two pauses: a few milliseconds of work at most. */
export const TAGS_PER_STEP = 1_000;
/** The characters that are searched between two pauses: a few milliseconds of work at most. */
const SEARCHED_PER_STEP = 1_048_576;

const TAG_TOO_LONG = `A placeholder or block may have at most ${LIMITS.templateTagLength} characters`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#34;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': ' ',
  '&amp;': '&',
};

/** A pair of braces with something between them. */
interface Tag {
  /** The range in the source, including the braces. */
  start: number;
  end: number;
  content: string;
  /** Whether it has three braces, so that its value is not escaped. */
  isRaw: boolean;
}

/** The position of `wanted` in a long text at or after `from`, -1 without one. */
function* searchSteps(source: string, wanted: string, from: number): Steps<number> {
  for (let start = from; start < source.length; start += SEARCHED_PER_STEP) {
    const found = source.slice(start, start + SEARCHED_PER_STEP + wanted.length - 1).indexOf(wanted);
    if (found !== -1) return start + found;
    yield 'pause';
  }
  return -1;
}

/**
 * Finds the tags of a template in one pass, with pauses. `{{` without a `}}` after it, and braces without content, are
 * text.
 */
export function* findTags(source: string): Generator<Tag | 'pause'> {
  let position = 0;
  for (let count = 1; ; count++) {
    const firstOpen = yield* searchSteps(source, OPEN, position);
    const close = firstOpen === -1 ? -1 : yield* searchSteps(source, CLOSE, firstOpen + OPEN.length);
    if (close === -1) return;

    // The tag begins at the last `{{` before the `}}`, so a stray `{{` does not swallow a placeholder. The search back
    // ends at `firstOpen`, so the whole loop takes linear time.
    const open = source.lastIndexOf(OPEN, close - OPEN.length);
    const end = close + CLOSE.length;
    const content = source.slice(open + OPEN.length, close);
    const isRaw = open > position && source[open - 1] === '{' && source[end] === '}';
    const tag = isRaw ? { start: open - 1, end: end + 1, content, isRaw } : { start: open, end, content, isRaw };
    position = tag.end;
    if (content.trim() !== '') yield tag;
    if (count % TAGS_PER_STEP === 0) yield 'pause';
  }
}

interface TokenizeOptions {
  /**
   * For HTML sources: whether the entities that visual editors write for quotes, spaces, ampersands and angle brackets
   * are decoded inside the braces.
   */
  decodesEntities: boolean;
  tagsMax?: number;
}

/**
 * Splits a template into text and tags, with pauses.
 * @throws TemplateSyntaxError for a block that is not if, unless or each
 * @throws TemplateLimitError for too many tags, or a tag that is too long
 */
export function* tokenizeSteps(
  source: string,
  { decodesEntities, tagsMax = LIMITS.templateTags }: TokenizeOptions,
): Steps<Token[]> {
  const tokens: Token[] = [];
  let tagCount = 0;
  let textStart = 0;
  for (const tag of findTags(source)) {
    if (tag === 'pause') {
      yield tag;
      continue;
    }
    const { start, end, content, isRaw } = tag;
    if (content.length > LIMITS.templateTagLength) throw new TemplateLimitError(TAG_TOO_LONG);
    const token = readTag(source, start, decodesEntities ? decodeEntities(content) : content, isRaw);
    if (!token) continue;
    tagCount += 1;
    if (tagCount > tagsMax) throw new TemplateLimitError(`A template may have at most ${LIMITS.templateTags} tags`);
    if (start > textStart) tokens.push({ type: 'text', text: source.slice(textStart, start) });
    tokens.push(token);
    textStart = end;
  }
  if (textStart < source.length) tokens.push({ type: 'text', text: source.slice(textStart) });
  return tokens;
}

function readTag(source: string, offset: number, content: string, isRaw: boolean): Token | undefined {
  const tag = content.trim();
  if (tag === '') return undefined;
  if (isRaw) return { type: 'output', expression: tag, isRaw };
  if (tag.startsWith('#')) return readOpen(source, offset, tag.slice(1).trim());
  if (tag.startsWith('/')) return { type: 'close', kind: readKind(source, offset, tag.slice(1).trim()), offset };
  if (tag === 'else') return { type: 'else', offset };
  if (/^else\s+(?:if|unless|each)\s/.test(tag)) {
    throw syntaxErrorAt(source, offset, `{{${tag}}} is not supported; put a block of its own after {{else}}`);
  }
  return { type: 'output', expression: tag, isRaw };
}

function readOpen(source: string, offset: number, tag: string): BlockOpenToken {
  const nameLength = tag.search(/\s/);
  const kind = readKind(source, offset, nameLength === -1 ? tag : tag.slice(0, nameLength));
  if (nameLength === -1) throw syntaxErrorAt(source, offset, `{{#${kind}}} needs a path, as in {{#${kind} name}}`);
  return { type: 'open', kind, path: tag.slice(nameLength).trim(), offset };
}

function readKind(source: string, offset: number, name: string): BlockKind {
  if (name === 'if' || name === 'unless' || name === 'each') return name;
  throw syntaxErrorAt(source, offset, `Unknown block "${name.slice(0, 50)}"; the blocks are if, unless and each`);
}

/** Decodes the entities that visual editors write inside braces. */
export function decodeEntities(content: string): string {
  if (!content.includes('&')) return content;
  return content.replace(/&(?:quot|apos|lt|gt|nbsp|amp|#34|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
