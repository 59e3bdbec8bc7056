import { LIMITS } from '../limits.ts';
import { syntaxErrorAt, type TemplateSyntaxError } from './template-language/errors.ts';
import { finish, type Steps } from '../steps.ts';
import { decodeEntities, findTags } from './template-language/tokenizer.ts';

type Message = (found: string) => string;

const writeName: Message = (found) => `${found} is not part of this language; write {{name}}`;

/** Foreign syntax in the text outside of tags: an opening mark, a closing mark, and the content between them. */
const FOREIGN_TEXTS: readonly { open: string; close: string; content: RegExp; message: Message }[] = [
  {
    open: '{%',
    close: '%}',
    content: /^[-+]?\s*[a-z]/i,
    message: (found) => `${found} is not part of this language; blocks are {{#if}}, {{#unless}} and {{#each}}`,
  },
  { open: '<%', close: '%>', content: /^/, message: writeName },
  { open: '*|', close: '|*', content: /^[a-z][^|\n]*$/i, message: writeName },
];
/** Marks that are farther apart than this do not form a pair. */
const PAIR_LENGTH_MAX = 250;
const PIECE_LENGTH = 100_000;

/** Foreign syntax that is recognised by the whole content of a tag. */
const FOREIGN_TAGS: readonly (readonly [form: RegExp, message: Message])[] = [
  [/^>/, (found) => `${found} includes another template, which is not possible`],
  [/^\^/, (found) => `${found} is not part of this language; write {{#unless name}} or {{else}}`],
  [/^&/, (found) => `${found} is not part of this language; write {{{name}}}`],
  [/^!/, (found) => `${found} is a comment of another language; templates have no comments`],
  [
    /^(?:if|unless|each|foreach|elsif|elseif)\s+\S/,
    (found) => `${found} is not a block; a block begins with {{#if name}}`,
  ],
  [/^end(?:if|for|each|unless)$/, (found) => `${found} does not end a block; write {{/if}}, {{/unless}} or {{/each}}`],
  [/^[^"']*<[a-z/!]/i, (found) => `${found} has markup between its braces; put it around them`],
];

/** Foreign syntax that is recognised in one of the names of a tag. */
const FOREIGN_NAMES: readonly (readonly [form: RegExp, message: Message])[] = [
  [/^[.~=%]/, writeName],
  [/^@(?:first|last|root)\b/, (found) => `${found} is not known; loops have {{@index}} and {{@key}}`],
  [/\|\|/, (found) => `${found} has an expression, which is not possible; {{name ?? "friend"}} gives a default`],
  [/\|/, (found) => `${found} has a filter, which is not possible; {{name ?? "friend"}} gives a default`],
  [
    // The search from each ? ends at the next one, so the time stays in proportion to the text.
    /[=!<>]=|&&|\s[<>]\s|^!|\s\?\s(?:(?!\s\?\s).){0,200}\s:\s/,
    (found) => `${found} has an expression, which is not possible; {{#if name}} tests one value`,
  ],
  [/^\(|\(\)/, (found) => `${found} calls a function, which is not possible`],
  [/\w\[\d+\]/, (found) => `${found} is not part of this language; an item of a list is {{list.0}}`],
  [/"[^"]*"|(?:^|[\s,:])'[^']*'/, (found) => `${found} has a text beside a name; {{name ?? "friend"}} gives a default`],
];

/** Quoted texts as operands of `??`. Their content is never foreign syntax. */
const LITERALS = /(^|\?\?)\s*(?:"[^"]*"|'[^']*')\s*(?=\?\?|$)/g;
const SHOWN_MAX = 60;

function faultAt(source: string, start: number, end: number, message: Message): TemplateSyntaxError {
  const found = source.slice(start, end);
  return syntaxErrorAt(source, start, message(found.length > SHOWN_MAX ? `${found.slice(0, SHOWN_MAX)}…` : found));
}

/** The names in a tag, without quoted texts. */
function namesIn(content: string): string[] {
  return content
    .replace(/^#\s*\w+\s*/, '')
    .replace(LITERALS, '$1')
    .split('??', LIMITS.templateTagOperands);
}

function messageForTag(content: string, names: string[]): Message | undefined {
  const whole = FOREIGN_TAGS.find(([form]) => form.test(content));
  if (whole) return whole[1];
  return FOREIGN_NAMES.find(([form]) => names.some((name) => form.test(name.trim())))?.[1];
}

function foreignTextIn(source: string, textStart: number, textEnd: number): TemplateSyntaxError | undefined {
  const text = source.slice(textStart, textEnd);
  for (const { open, close, content, message } of FOREIGN_TEXTS) {
    let end = -1;
    for (let start = text.indexOf(open); start !== -1; start = text.indexOf(open, start + open.length)) {
      const inner = start + open.length;
      if (end < inner) end = text.indexOf(close, inner);
      if (end === -1) break;
      if (end - start > PAIR_LENGTH_MAX || !content.test(text.slice(inner, end))) continue;
      return faultAt(source, textStart + start, textStart + end + close.length, message);
    }
  }
  return undefined;
}

/** Searches a long text piece by piece. Each piece overlaps the next by the length of a pair. */
function* foreignTextSteps(source: string, start: number, end: number): Steps<TemplateSyntaxError | undefined> {
  for (let from = start; from < end; from += PIECE_LENGTH) {
    const fault = foreignTextIn(source, from, Math.min(from + PIECE_LENGTH + PAIR_LENGTH_MAX, end));
    if (fault) return fault;
    if (end - from > PIECE_LENGTH) yield 'pause';
  }
  return undefined;
}

/**
 * Finds the first syntax of another template language (Liquid, Handlebars, Mustache, Go, ERB, Mailchimp), which would
 * be sent as it is, or print nothing. An author who means the characters writes a quoted text: `{{"{%"}}`. Takes time
 * in proportion to the source. The search ends where the template goes beyond a limit, which compiling reports.
 */
export function findForeignSyntax(source: string, mode: 'html' | 'text'): TemplateSyntaxError | undefined {
  return finish(foreignSyntaxSteps(source, mode));
}

/** Does the same as `findForeignSyntax`, with pauses. */
export function* foreignSyntaxSteps(source: string, mode: 'html' | 'text'): Steps<TemplateSyntaxError | undefined> {
  let textStart = 0;
  let tagCount = 0;
  let nameCount = 0;
  for (const found of findTags(source)) {
    if (found === 'pause') {
      yield found;
      continue;
    }
    const { start, end, content } = found;
    tagCount += 1;
    if (tagCount > LIMITS.templateTags || nameCount > LIMITS.templateOperands) return undefined;
    if (content.length > LIMITS.templateTagLength) return undefined;
    const inText = yield* foreignTextSteps(source, textStart, start);
    if (inText) return inText;
    const tag = (mode === 'html' ? decodeEntities(content) : content).trim();
    const names = namesIn(tag);
    nameCount += names.length;
    const message = messageForTag(tag, names);
    if (message) return faultAt(source, start, end, message);
    textStart = end;
  }
  return yield* foreignTextSteps(source, textStart, source.length);
}
