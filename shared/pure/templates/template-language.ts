import { finish, type Steps } from '../steps.ts';
import { compileSteps, type OutputEncoding, type RenderTemplate } from './template-language/compiler.ts';
import { escapeHtml } from './template-language/escape-html.ts';
import { parseSteps } from './template-language/parser.ts';
import { tokenizeSteps } from './template-language/tokenizer.ts';

export { escapeHtml } from './template-language/escape-html.ts';
export { TemplateLimitError, TemplateSyntaxError } from './template-language/errors.ts';
export { createRenderMeter, type RenderMeter } from './template-language/meter.ts';
export type { RenderScope } from './template-language/compiler.ts';

/** `html` escapes the values of `{{ }}`; `text` (subjects, headers, URLs) prints them as they are. */
export type TemplateMode = 'html' | 'text';

/** A template, compiled once and rendered any number of times. */
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
 * @throws TemplateSyntaxError, with line and column, for unknown, unclosed and mismatched blocks
 * @throws TemplateLimitError for too many tags
 */
export function compileTemplate(source: string, mode: TemplateMode): CompiledTemplate {
  return finish(compileTemplateSteps(source, mode));
}

/** Does the same as `compileTemplate`, with pauses. */
export function* compileTemplateSteps(source: string, mode: TemplateMode): Steps<CompiledTemplate> {
  const tokens = yield* tokenizeSteps(source, { decodesEntities: mode === 'html' });
  if (tokens.every((token) => token.type === 'text')) return { render: () => source };
  const nodes = yield* parseSteps(tokens, source);
  return { render: yield* compileSteps(nodes, ENCODINGS[mode]) };
}

/** Checks, with pauses, whether a template compiles. Throws the errors of `compileTemplate`. */
export function* checkTemplateSteps(source: string, mode: TemplateMode): Steps<void> {
  yield* parseSteps(yield* tokenizeSteps(source, { decodesEntities: mode === 'html' }), source);
}

/** Removes the characters that could end a header line: CR, LF, NUL, U+2028 and U+2029 (RFC 5322 section 2.2). */
export function sanitizeHeaderText(text: string): string {
  return text.replace(/[\r\n\0\u2028\u2029]/g, '');
}
