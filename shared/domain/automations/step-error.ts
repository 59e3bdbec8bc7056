import { z } from 'zod';
import { AppError } from '../../pure/app-error.ts';
import { TemplateLimitError, TemplateSyntaxError } from '../../pure/templates/template-language.ts';

/** A step that cannot succeed, however often it is tried. The message says what is wrong. */
export class StepError extends Error {
  readonly output: Record<string, unknown> | null;

  constructor(message: string, output: Record<string, unknown> | null = null) {
    super(message);
    this.name = 'StepError';
    this.output = output;
  }
}

const REASON_LENGTH_MAX = 1_000;

/** A text as PostgreSQL can store it, cut to the length of a message. */
function readable(text: string): string {
  return text.slice(0, REASON_LENGTH_MAX).toWellFormed().replaceAll('\0', '');
}

/** Why a step has failed for good; undefined for an error that may pass. */
export function permanentReason(error: unknown): string | undefined {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    return readable(`The configuration of the step cannot be used: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  if (error instanceof AppError && error.statusCode < 500) {
    const faults = error.errors?.map(({ field, message }) => `${field}: ${message}`);
    return readable(faults?.join('; ') ?? error.message);
  }
  const isPermanent =
    error instanceof StepError || error instanceof TemplateSyntaxError || error instanceof TemplateLimitError;
  return isPermanent ? readable(error.message) : undefined;
}
