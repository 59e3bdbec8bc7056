import { compileNodes, type OutputEncoding, type RenderTemplate } from './template-language/compiler.ts';
import { escapeHtml } from './template-language/escape-html.ts';
import { parseSteps, parseTokens } from './template-language/parser.ts';
import type { Steps } from './template-language/steps.ts';
import { tokenize } from './template-language/tokenizer.ts';

export { escapeHtml } from './template-language/escape-html.ts';
export { TemplateLimitError, TemplateSyntaxError } from './template-language/errors.ts';
export type { Steps } from './template-language/steps.ts';
export { createRenderMeter, type RenderMeter } from './template-language/meter.ts';
export type { RenderScope } from './template-language/compiler.ts';

/** `html` escapes what `{{ }}` prints, `text` (subjects, headers, URLs) prints it as it is. */
export type TemplateMode = 'html' | 'text';

/** A template, parsed once, to be rendered any number of times. */
export interface CompiledTemplate {
  render: RenderTemplate;
}

const ENCODINGS: Readonly<Record<TemplateMode, OutputEncoding>> = {
  html: { escape: escapeHtml, raw: (text) => text },
  text: { escape: (text) => text, raw: (text) => text },
};

/**
 * Compiles a template: `{{ path ?? other ?? "text" ?? 5 }}`, `{{{ unescaped }}}`, `{{#if}}`, `{{#unless}}` and
 * `{{#each}}` with `{{else}}`, `{{this}}`, `{{this.name}}`, `{{@index}}` and `{{@key}}`.
 * Throws TemplateSyntaxError, with line and column, for unknown, unclosed and mismatched blocks, and TemplateLimitError for
 * too many tags.
 */
export function compileTemplate(source: string, mode: TemplateMode): CompiledTemplate {
  const tokens = tokenize(source, { decodesEntities: mode === 'html' });
  if (tokens.every((token) => token.type === 'text')) return { render: () => source };
  return { render: compileNodes(parseTokens(tokens, source), ENCODINGS[mode]) };
}

/** Finds out, in pieces, whether a template compiles. Throws as `compileTemplate` does. */
export function* checkTemplateSteps(source: string, mode: TemplateMode): Steps<void> {
  const tokens = tokenize(source, { decodesEntities: mode === 'html' });
  yield 'pause';
  yield* parseSteps(tokens, source);
}

/** Takes out what could end a header line or hide in one: CR, LF, NUL, U+2028 and U+2029 (RFC 5322, section 2.2). */
export function sanitizeHeaderText(text: string): string {
  return text.replace(/[\r\n\0\u2028\u2029]/g, '');
}
