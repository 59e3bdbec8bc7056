import {
  compileTemplate,
  sanitizeHeaderText,
  type CompiledTemplate,
  type RenderMeter,
  type RenderScope,
} from './template-language.ts';
import { compileNodes, type RenderTemplate } from './template-language/compiler.ts';
import { TemplateLimitError, TemplateSyntaxError, type MessagePart } from './template-language/errors.ts';
import { escapeHtml } from './template-language/escape-html.ts';
import { LIMITS } from '../limits.ts';
import { convertOnce, createRenderMeter } from './template-language/meter.ts';
import { parseSteps, type TemplateNode } from './template-language/parser.ts';
import { markTags, unmarkTags, type HtmlToText } from './template-language/plain-text.ts';
import type { Steps } from './template-language/steps.ts';
import { tokenize } from './template-language/tokenizer.ts';

interface MessageTemplateSource {
  subject: string;
  html: string;
  /** The HTML that goes out where it is not `html`: the same with additions that are not for the text/plain part. */
  sentHtml?: string;
  /** The text/plain part of the author's own; without one it is derived from `html`. */
  text?: string | null;
}

export interface RenderedMessage {
  /** One line of at most 998 characters, the longest line RFC 5322 (section 2.1.1) allows. */
  subject: string;
  html: string;
  /** The text/plain alternative of `html`: the author's own, or derived. */
  text: string;
}

/** Subject and body of a message, parsed once, to be rendered for any number of recipients. */
export interface CompiledMessageTemplate {
  /** Throws TemplateLimitError when a part, or the work for all of them, grows past a limit. */
  render(scope: RenderScope, meter?: RenderMeter): RenderedMessage;
}

/** RFC 5322 section 2.1.1: the longest line of a message. */
export const SUBJECT_LENGTH_MAX = 998;

/**
 * What compiling needs from whoever drives it: to have some HTML converted into text, which may be done elsewhere, or
 * just a moment for others.
 */
export type CompileRequest = { convert: string } | 'pause';

/** Answers the text where a conversion was asked for. */
export type CompileSteps<Result> = Generator<CompileRequest, Result, string>;

/**
 * Compiles a message, step by step: a large one takes long enough for the driver to let others in between. The
 * text/plain part is derived from the HTML template here, not from each rendered message, so that `htmlToText` stays out
 * of the way of a campaign; only templates that defy it, and values that are HTML themselves, are converted message by
 * message. Throws TemplateSyntaxError and TemplateLimitError, whose `part` says where.
 */
export function* compileMessageSteps(
  { subject, html, sentHtml, text }: MessageTemplateSource,
  { htmlToText }: { htmlToText: HtmlToText },
): CompileSteps<CompiledMessageTemplate> {
  const subjectTemplate = compileTextPart('subject', subject);
  yield 'pause';
  const ownText = typeof text === 'string' ? compileTextPart('text', text) : undefined;
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

/** Without `htmlToText` the text part is the author's, and is not made here. */
function* compileBody(
  html: string,
  sentHtml: string | undefined,
  htmlToText: HtmlToText | undefined,
): CompileSteps<CompiledBody> {
  const lengthMax = Math.max(LIMITS.renderedLength, 2 * html.length);
  const tokens = naming('html', () => tokenize(html, { decodesEntities: true }));
  yield 'pause';
  const nodes = yield* namingSteps('html', parseSteps(tokens, html));
  yield 'pause';
  const compileHtml = (tree: TemplateNode[]) =>
    compileNodes(tree, { escape: escapeHtml, raw: (text) => text }, lengthMax);
  let renderText: RenderTemplate = () => '';
  if (htmlToText) {
    const marked = markTags(tokens, html);
    const textNodes = marked && unmarkTags(yield { convert: marked.html }, marked, html);
    yield 'pause';
    renderText = textNodes
      ? compileText(textNodes, htmlToText, lengthMax)
      : compileConversion(compileHtml(nodes), htmlToText);
    yield 'pause';
  }
  if (sentHtml === undefined) return { renderHtml: compileHtml(nodes), renderText };
  // Everpost's additions to a template are tags as well; the author's have been counted.
  const sentTokens = tokenize(sentHtml, { decodesEntities: true, tagsMax: Infinity });
  yield 'pause';
  const sentNodes = yield* parseSteps(sentTokens, sentHtml);
  yield 'pause';
  return { renderHtml: compileHtml(sentNodes), renderText };
}

function compileText(nodes: TemplateNode[], htmlToText: HtmlToText, lengthMax: number): RenderTemplate {
  const raw = (text: string, meter: RenderMeter): string =>
    /[<&]/.test(text) ? convertOnce(meter, text, htmlToText) : text;
  return compileNodes(nodes, { escape: (text) => text, raw }, lengthMax);
}

function compileConversion(renderHtml: RenderTemplate, htmlToText: HtmlToText): RenderTemplate {
  return (scope, meter = createRenderMeter()) => convertOnce(meter, renderHtml(scope, meter), htmlToText);
}

/**
 * Blocks and values that printed nothing leave empty lines behind; one between two paragraphs is enough. The first
 * line keeps its indent, which may be that of a list.
 */
function tidyText(text: string): string {
  // A conversion leaves none in what it only strips of its tags, and looking through megabytes takes long.
  const dense =
    text.length <= LIMITS.templateLength && text.includes('\n\n\n') ? text.replace(/\n{3,}/g, '\n\n') : text;
  return dense.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

/** Never cuts a character of two UTF-16 units in half. */
function cutSubject(subject: string): string {
  if (subject.length <= SUBJECT_LENGTH_MAX) return subject;
  const cut = subject.slice(0, SUBJECT_LENGTH_MAX);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/**
 * Compiles a part that is plain text; faults and limits, also those met while it is rendered, name the part.
 * @throws TemplateSyntaxError, TemplateLimitError
 */
export function compileTextPart(part: Exclude<MessagePart, 'html'>, source: string): CompiledTemplate {
  const { render } = naming(part, () => compileTemplate(source, 'text'));
  return { render: (scope, meter) => naming(part, () => render(scope, meter)) };
}

function naming<T>(part: MessagePart, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw withPart(error, part);
  }
}

function* namingSteps<T>(part: MessagePart, steps: Steps<T>): Steps<T> {
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
