import {
  compileTemplate,
  TemplateSyntaxError,
  type RenderScope,
  type TemplateMode,
} from '../../shared/pure/templates/template-language.ts';

export function scopeOf(values: Record<string, unknown>): RenderScope {
  return { get: (name) => (Object.hasOwn(values, name) ? values[name] : undefined) };
}

export function render(source: string, values: Record<string, unknown> = {}, mode: TemplateMode = 'text'): string {
  return compileTemplate(source, mode).render(scopeOf(values));
}

export function faultOf(source: string): { message: string; line: number; column: number } {
  try {
    compileTemplate(source, 'html');
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return { message: error.message, line: error.line, column: error.column };
    throw error;
  }
  throw new Error(`compiled without a fault: ${source}`);
}
