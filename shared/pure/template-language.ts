import { collectPaths, compileNodes, type OutputEncoding, type RenderScope } from './template-language/compiler.ts';
import { escapeHtml } from './template-language/escape-html.ts';
import { parseTokens } from './template-language/parser.ts';
import { tokenize } from './template-language/tokenizer.ts';

export { escapeHtml } from './template-language/escape-html.ts';
export { TemplateLimitError, TemplateSyntaxError } from './template-language/errors.ts';
export type { RenderScope } from './template-language/compiler.ts';

/** `html` escapes what `{{ }}` prints, `text` (subjects, headers, URLs) prints it as it is. */
export type TemplateMode = 'html' | 'text';

/** A template, parsed once, to be rendered any number of times. */
export interface CompiledTemplate {
  /** Prints the template with the values of a scope. Throws TemplateLimitError when it grows past a cap. */
  render(scope: RenderScope): string;
  /** The paths it reads, as written (`data.plan`, `profile.tier`), each once. */
  readonly paths: readonly string[];
  /** Nothing in it depends on the scope. */
  readonly isStatic: boolean;
}

const ENCODINGS: Readonly<Record<TemplateMode, OutputEncoding>> = {
  html: { escape: escapeHtml, raw: (text) => text },
  text: { escape: (text) => text, raw: (text) => text },
};

/**
 * Compiles a template: `{{ path ?? other ?? "text" ?? 5 }}`, `{{{ unescaped }}}`, `{{#if}}`, `{{#unless}}` and
 * `{{#each}}` with `{{else}}`, `{{this}}`, `{{this.name}}`, `{{@index}}` and `{{@key}}`.
 * Throws TemplateSyntaxError, with line and column, for unknown, unclosed and mismatched blocks, and for nothing else.
 */
export function compileTemplate(source: string, mode: TemplateMode): CompiledTemplate {
  const tokens = tokenize(source, { decodesEntities: mode === 'html' });
  if (tokens.every((token) => token.type === 'text')) return { render: () => source, paths: [], isStatic: true };
  const nodes = parseTokens(tokens, source);
  return { render: compileNodes(nodes, ENCODINGS[mode]), paths: collectPaths(nodes), isStatic: false };
}

/** Takes out what could end a header line or hide in one: CR, LF, NUL, U+2028 and U+2029 (RFC 5322, section 2.2). */
export function sanitizeHeaderText(text: string): string {
  return text.replace(/[\r\n\0\u2028\u2029]/g, '');
}
