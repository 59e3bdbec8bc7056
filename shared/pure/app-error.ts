import { ERROR_CATALOGUE, type ErrorCode } from './error-catalogue.ts';

/** One fault of one field. `field` is a dot path (`attachments.0.filename`). */
export interface FieldError {
  field: string;
  message: string;
  code: string;
  received?: unknown;
}

export interface AppErrorOptions {
  message?: string;
  errors?: FieldError[];
  details?: Record<string, unknown>;
  suggestion?: string;
  cause?: unknown;
}

/**
 * The one error type of Everpost. It holds all that a client may read; `cause` is never sent to a client.
 * The HTTP status comes from the catalogue, so a code cannot be sent with two statuses.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly errors: FieldError[] | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly suggestion: string | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.message ?? ERROR_CATALOGUE[code].message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.statusCode = ERROR_CATALOGUE[code].status;
    this.errors = options.errors;
    this.details = options.details;
    this.suggestion = options.suggestion;
  }
}

/** A 422 that names the faulty fields. */
export function validationError(errors: FieldError[], details?: Record<string, unknown>): AppError {
  return new AppError('VALIDATION_ERROR', { errors, details });
}

/** A 422 for a field that goes beyond one of `LIMITS`. */
export function tooLarge(field: string, message: string, details?: Record<string, unknown>): AppError {
  return validationError([{ field, message, code: 'too_big' }], details);
}

/** A 400 with a message for people. */
export function badRequest(message: string, options: Omit<AppErrorOptions, 'message'> = {}): AppError {
  return new AppError('BAD_REQUEST', { ...options, message });
}
