import {
  compileTemplateSteps,
  sanitizeHeaderText,
  type CompiledTemplate,
  type RenderMeter,
  type RenderScope,
} from './template-language.ts';
import { compileSteps, type RenderTemplate } from './template-language/compiler.ts';
import { TemplateLimitError, TemplateSyntaxError, type MessagePart } from './template-language/errors.ts';
import { escapeHtml } from './template-language/escape-html.ts';
import { LIMITS } from '../limits.ts';
import { convertOnce, createRenderMeter } from './template-language/meter.ts';
import { parseSteps, type TemplateNode } from './template-language/parser.ts';
import { markTags, unmarkSteps, type HtmlToText } from './template-language/plain-text.ts';
import { finish, type Steps } from '../steps.ts';
import { tokenizeSteps } from './template-language/tokenizer.ts';

interface MessageTemplateSource {
  subject: string;
  html: string;
  /**
   * The HTML to send, if it differs from `html`: the same with additions that must not get into the text/plain part.
   */
  sentHtml?: string;
  /** The text/plain part as the author wrote it; otherwise it is derived from `html`. */
  text?: string | null;
}

export interface RenderedMessage {
  /** One line of at most 998 characters, the longest line RFC 5322 (section 2.1.1) allows. */
  subject: string;
  html: string;
  /** The text/plain alternative of `html`, written by the author or derived. */
  text: string;
}

/** Subject and body of a message, compiled once and rendered for any number of recipients. */
export interface CompiledMessageTemplate {
  /** @throws TemplateLimitError when a part, or the work for all parts, goes beyond a limit */
  render(scope: RenderScope, meter?: RenderMeter): RenderedMessage;
}

/** RFC 5322 section 2.1.1: the longest line of a message. */
export const SUBJECT_LENGTH_MAX = 998;

/**
 * What compiling yields to its driver: HTML that the driver converts into text, perhaps in another thread, or a pause
 * in which the driver may do other work.
 */
export type CompileRequest = { convert: string } | 'pause';

/** The driver passes the text of a conversion to `next`; after a pause it passes any text. */
export type CompileSteps<Result> = Generator<CompileRequest, Result, string>;

/**
 * Compiles a message step by step, because a large one would block the process. The text/plain part is derived from the
 * HTML template, so a campaign need not convert each rendered message. Two cases are still converted for each message:
 * templates from which no text template can be derived, and unescaped values with markup.
 * @throws TemplateSyntaxError, TemplateLimitError: their `part` names the part at fault
 */
export function* compileMessageSteps(
  { subject, html, sentHtml, text }: MessageTemplateSource,
  { htmlToText }: { htmlToText: HtmlToText },
): CompileSteps<CompiledMessageTemplate> {
  const subjectTemplate = compileTextPart('subject', subject);
  yield 'pause';
  const ownText = typeof text === 'string' ? yield* textPartSteps('text', text) : undefined;
  yield 'pause';
  const body = yield* compileBody(html, sentHtml, ownText ? undefined : htmlToText);
  return {
    render(scope, meter = createRenderMeter()) {
      return {
        subject: cutSubject(sanitizeHeaderText(subjectTemplate.render(scope, meter))),
        html: body.renderHtml(scope, meter),
        text: ownText ? ownText.render(scope, meter) : tidyText(body.renderText(scope, meter)),
      };
    },
  };
}

interface CompiledBody {
  renderHtml: RenderTemplate;
  renderText: RenderTemplate;
}

/**
 * Compiles the body. Without `htmlToText` the author has written the text part, and `renderText` prints nothing. No text
 * is derived from many megabytes, because that takes several times as much memory, and nobody reads it.
 */
function* compileBody(
  html: string,
  sentHtml: string | undefined,
  htmlToText: HtmlToText | undefined,
): CompileSteps<CompiledBody> {
  const lengthMax = Math.max(LIMITS.renderedLength, 2 * html.length);
  const tokens = yield* stepsInPart('html', tokenizeSteps(html, { decodesEntities: true }));
  const nodes = yield* stepsInPart('html', parseSteps(tokens, html));
  yield 'pause';
  const compileHtml = (tree: TemplateNode[]) =>
    compileSteps(tree, { escape: escapeHtml, raw: (text) => text }, lengthMax);
  let renderText: RenderTemplate = () => '';
  if (htmlToText && html.length <= LIMITS.textSourceLength) {
    const marked = markTags(tokens, html);
    const textNodes = marked && (yield* unmarkSteps(yield { convert: marked.html }, marked, html));
    yield 'pause';
    renderText = textNodes
      ? yield* compileText(textNodes, htmlToText, lengthMax)
      : compileConversion(yield* compileHtml(nodes), htmlToText);
    yield 'pause';
  }
  if (sentHtml === undefined) return { renderHtml: yield* compileHtml(nodes), renderText };
  // Everpost's additions have tags of their own, which the limits do not count. The author's are counted above.
  const sentTokens = yield* tokenizeSteps(sentHtml, { decodesEntities: true, tagsMax: Infinity });
  const sentNodes = yield* parseSteps(sentTokens, sentHtml, { operandsMax: Infinity });
  yield 'pause';
  return { renderHtml: yield* compileHtml(sentNodes), renderText };
}

function compileText(nodes: TemplateNode[], htmlToText: HtmlToText, lengthMax: number): Steps<RenderTemplate> {
  const raw = (text: string, meter: RenderMeter): string =>
    /[<&]/.test(text) ? convertOnce(meter, text, htmlToText) : text;
  return compileSteps(nodes, { escape: (text) => text, raw }, lengthMax);
}

function compileConversion(renderHtml: RenderTemplate, htmlToText: HtmlToText): RenderTemplate {
  return (scope, meter = createRenderMeter()) => convertOnce(meter, renderHtml(scope, meter), htmlToText);
}

/**
 * Removes the empty lines of blocks and values that printed nothing; one stays between two paragraphs. The first line
 * keeps its indent, which may be that of a list.
 */
function tidyText(text: string): string {
  // Searching megabytes takes long. The converter only strips the tags of long HTML, and leaves no empty lines.
  const dense =
    text.length <= LIMITS.templateLength && text.includes('\n\n\n') ? text.replace(/\n{3,}/g, '\n\n') : text;
  return dense.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

/** Cuts a subject at `SUBJECT_LENGTH_MAX`, but never between the two halves of a surrogate pair. */
function cutSubject(subject: string): string {
  if (subject.length <= SUBJECT_LENGTH_MAX) return subject;
  const cut = subject.slice(0, SUBJECT_LENGTH_MAX);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/**
 * Compiles a plain-text part. Errors name the part, also those of rendering.
 * @throws TemplateSyntaxError, TemplateLimitError
 */
export function compileTextPart(part: Exclude<MessagePart, 'html'>, source: string): CompiledTemplate {
  return finish(textPartSteps(part, source));
}

/** Does the same as `compileTextPart`, with pauses. */
function* textPartSteps(part: Exclude<MessagePart, 'html'>, source: string): Steps<CompiledTemplate> {
  const { render } = yield* stepsInPart(part, compileTemplateSteps(source, 'text'));
  return { render: (scope, meter) => inPart(part, () => render(scope, meter)) };
}

/** Runs `work`, and adds the part to its errors. */
function inPart<T>(part: MessagePart, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw withPart(error, part);
  }
}

function* stepsInPart<T>(part: MessagePart, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (error) {
    throw withPart(error, part);
  }
}

function withPart(error: unknown, part: MessagePart): unknown {
  if (error instanceof TemplateSyntaxError) return new TemplateSyntaxError(error, part);
  if (error instanceof TemplateLimitError) return new TemplateLimitError(error.message, part);
  return error;
}
