import { compileTemplate, sanitizeHeaderText, type RenderScope } from './template-language.ts';
import { collectPaths, compileNodes } from './template-language/compiler.ts';
import { TemplateSyntaxError, type MessagePart } from './template-language/errors.ts';
import { escapeHtml } from './template-language/escape-html.ts';
import { parseTokens } from './template-language/parser.ts';
import { derivePlainText, type HtmlToText } from './template-language/plain-text.ts';
import { tokenize } from './template-language/tokenizer.ts';

interface MessageTemplateSource {
  subject: string;
  html: string;
  /** The HTML that goes out where it is not `html`: the same with additions that are not for the text/plain part. */
  sentHtml?: string;
}

export interface RenderedMessage {
  /** One line of at most 998 characters, the longest line RFC 5322 (section 2.1.1) allows. */
  subject: string;
  html: string;
  /** The text/plain alternative of `html`. */
  text: string;
}

/** Subject and body of a message, parsed once, to be rendered for any number of recipients. */
export interface CompiledMessageTemplate {
  /** Throws TemplateLimitError when a part grows past a cap. */
  render(scope: RenderScope): RenderedMessage;
  /** The paths of subject and body, each once. */
  readonly paths: readonly string[];
}

/** RFC 5322 section 2.1.1: the longest line of a message. */
export const SUBJECT_LENGTH_MAX = 998;

/**
 * Compiles a message. The text/plain part is derived from the HTML template here, not from each rendered message, so
 * that `htmlToText` stays out of the way of a campaign; only templates that defy it are converted message by message.
 * Throws TemplateSyntaxError, whose `part` says where.
 */
export function compileMessageTemplate(
  { subject, html, sentHtml = html }: MessageTemplateSource,
  { htmlToText }: { htmlToText: HtmlToText },
): CompiledMessageTemplate {
  const subjectTemplate = naming('subject', () => compileTemplate(subject, 'text'));
  const body = naming('html', () => compileBody(html, sentHtml, htmlToText));
  return {
    render(scope) {
      const renderedHtml = body.renderHtml(scope);
      return {
        subject: cutSubject(sanitizeHeaderText(subjectTemplate.render(scope))),
        html: renderedHtml,
        text: body.renderText(scope, renderedHtml),
      };
    },
    paths: [...new Set([...subjectTemplate.paths, ...body.paths])],
  };
}

interface CompiledBody {
  renderHtml(scope: RenderScope): string;
  renderText(scope: RenderScope, renderedHtml: string): string;
  paths: string[];
}

function compileBody(html: string, sentHtml: string, htmlToText: HtmlToText): CompiledBody {
  const tokens = tokenize(html, { decodesEntities: true });
  const nodes = parseTokens(tokens, html);
  const sentNodes = sentHtml === html ? nodes : parseTokens(tokenize(sentHtml, { decodesEntities: true }), sentHtml);
  const textNodes = derivePlainText(tokens, html, htmlToText);
  const renderText =
    textNodes &&
    compileNodes(textNodes, {
      escape: (text) => text,
      raw: (text) => (/[<&]/.test(text) ? htmlToText(text) : text),
    });
  return {
    renderHtml: compileNodes(sentNodes, { escape: escapeHtml, raw: (text) => text }),
    renderText: renderText
      ? (scope) => tidyText(renderText(scope))
      : (_scope, renderedHtml) => tidyText(htmlToText(renderedHtml)),
    paths: collectPaths(nodes),
  };
}

/**
 * Blocks and values that printed nothing leave empty lines behind; one between two paragraphs is enough. The first
 * line keeps its indent, which may be that of a list.
 */
function tidyText(text: string): string {
  const dense = text.includes('\n\n\n') ? text.replace(/\n{3,}/g, '\n\n') : text;
  return dense.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

/** Never cuts a character of two UTF-16 units in half. */
function cutSubject(subject: string): string {
  if (subject.length <= SUBJECT_LENGTH_MAX) return subject;
  const cut = subject.slice(0, SUBJECT_LENGTH_MAX);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function naming<T>(part: MessagePart, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof TemplateSyntaxError) throw new TemplateSyntaxError(error, part);
    throw error;
  }
}
