import { AppError } from '../../pure/app-error.ts';
import { TemplateLimitError, TemplateSyntaxError } from '../../pure/template-language.ts';

/** A step that cannot succeed however often it is tried. The message tells people what is wrong. */
export class StepFault extends Error {
  readonly output: Record<string, unknown> | null;

  constructor(message: string, output: Record<string, unknown> | null = null) {
    super(message);
    this.name = 'StepFault';
    this.output = output;
  }
}

/** Why a step has failed for good; undefined for an error that may be a moment's trouble. */
export function permanentReason(error: unknown): string | undefined {
  const isPermanent =
    error instanceof StepFault ||
    error instanceof TemplateSyntaxError ||
    error instanceof TemplateLimitError ||
    (error instanceof AppError && error.statusCode < 500);
  if (!isPermanent) return undefined;
  const faults =
    error instanceof AppError ? error.errors?.map(({ field, message }) => `${field}: ${message}`) : undefined;
  return faults?.join('; ') ?? error.message;
}
