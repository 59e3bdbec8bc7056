import { AppError } from '../../pure/app-error.ts';
import { compileTemplate, TemplateSyntaxError, type TemplateMode } from '../../pure/template-language.ts';

/** The parts of a mail that a caller writes in the template language. */
export interface TemplateSources {
  subject?: string;
  body?: string;
}

function findFault(source: string | undefined, mode: TemplateMode): TemplateSyntaxError | undefined {
  try {
    if (source !== undefined) compileTemplate(source, mode);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return error;
    throw error;
  }
}

/**
 * Checks that subject and body compile, so that a mail cannot fail on its own template later.
 * @throws AppError with `code` (BAD_REQUEST when saving; /v1/send wants VALIDATION_ERROR), details `{ field, line, column }`
 */
export function assertTemplateSyntax(
  sources: TemplateSources,
  code: 'BAD_REQUEST' | 'VALIDATION_ERROR' = 'BAD_REQUEST',
): void {
  for (const [field, mode] of [
    ['subject', 'text'],
    ['body', 'html'],
  ] as const) {
    const fault = findFault(sources[field], mode);
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
