import { badRequest, tooLarge } from '../../pure/app-error.ts';
import { foreignSyntaxSteps } from '../../pure/templates/foreign-syntax.ts';
import {
  checkTemplateSteps,
  TemplateLimitError,
  TemplateSyntaxError,
  type TemplateMode,
} from '../../pure/templates/template-language.ts';
import { runWithYields } from '../../platform/yielding.ts';

/** The parts of an email that a caller writes in the template language. */
export interface TemplateSources {
  subject?: string;
  body?: string;
  text?: string | null;
  preheader?: string | null;
}

/**
 * Finds the first fault of a template before it is saved: syntax of another template language, or a compile error.
 * @throws AppError VALIDATION_ERROR naming `field` when the template is beyond a limit
 */
export async function findTemplateFault(
  field: string,
  source: string,
  mode: TemplateMode,
): Promise<TemplateSyntaxError | undefined> {
  try {
    const foreign = await runWithYields(foreignSyntaxSteps(source, mode));
    if (!foreign) await runWithYields(checkTemplateSteps(source, mode));
    return foreign;
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return error;
    throw error instanceof TemplateLimitError ? tooLarge(field, error.message) : error;
  }
}

/**
 * Checks all parts of an email before they are saved, so that rendering cannot fail later on a syntax error.
 * @throws AppError BAD_REQUEST with details `{ field, line, column }`; VALIDATION_ERROR for a template beyond a limit
 */
export async function assertTemplateSyntax(sources: TemplateSources): Promise<void> {
  for (const [field, mode] of [
    ['subject', 'text'],
    ['body', 'html'],
    ['text', 'text'],
    ['preheader', 'text'],
  ] as const) {
    const source = sources[field];
    const fault = typeof source === 'string' ? await findTemplateFault(field, source, mode) : undefined;
    if (!fault) continue;
    const { line, column } = fault;
    throw badRequest(`The ${field} is not a valid template: ${fault.message} (line ${line}, column ${column})`, {
      details: { field, line, column },
    });
  }
}
