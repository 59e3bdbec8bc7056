import { AppError, tooLarge } from '../../pure/app-error.ts';
import { findForeignSyntax } from '../../pure/templates/foreign-syntax.ts';
import {
  compileTemplate,
  TemplateLimitError,
  TemplateSyntaxError,
  type TemplateMode,
} from '../../pure/templates/template-language.ts';

/** The parts of a mail that a caller writes in the template language. */
export interface TemplateSources {
  subject?: string;
  body?: string;
  text?: string | null;
  preheader?: string | null;
}

/** @throws AppError VALIDATION_ERROR when the template is larger than it may be */
function findFault(
  field: string,
  source: string | null | undefined,
  mode: TemplateMode,
): TemplateSyntaxError | undefined {
  try {
    if (typeof source === 'string') compileTemplate(source, mode);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return error;
    throw error instanceof TemplateLimitError ? tooLarge(field, error.message) : error;
  }
}

/**
 * Checks that all parts compile, so that an email cannot fail on its own template later. When saving, also checks
 * that they are not written for another template language.
 * @throws AppError with `code` (BAD_REQUEST when saving; /v1/send wants VALIDATION_ERROR), details `{ field, line, column }`;
 *   VALIDATION_ERROR for more tags than a template may have
 */
export function assertTemplateSyntax(
  sources: TemplateSources,
  code: 'BAD_REQUEST' | 'VALIDATION_ERROR' = 'BAD_REQUEST',
): void {
  for (const [field, mode] of [
    ['subject', 'text'],
    ['body', 'html'],
    ['text', 'text'],
    ['preheader', 'text'],
  ] as const) {
    const source = sources[field];
    // An email sent at once shows its author the mistake; a saved template would go out for months.
    const foreign = code === 'BAD_REQUEST' && typeof source === 'string' ? findForeignSyntax(source) : undefined;
    const fault = findFault(field, source, mode) ?? foreign;
    if (!fault) continue;
    const { line, column } = fault;
    const message = `${fault.message} (line ${line}, column ${column})`;
    throw new AppError(code, {
      message: `The ${field} is not a valid template: ${message}`,
      details: { field, line, column },
      ...(code === 'VALIDATION_ERROR' && { errors: [{ field, message, code: 'invalid_template' }] }),
    });
  }
}
