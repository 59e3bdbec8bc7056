import type { AppError, FieldError } from '../../shared/pure/app-error.ts';

const ERRORS_MAX = 100;
const FIELD_LENGTH_MAX = 200;
const MESSAGE_LENGTH_MAX = 1_000;
const TEXT_LENGTH_MAX = 500;
const ITEMS_MAX = 100;
const DEPTH_MAX = 5;

function cut(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}

function cutError({ field, message, ...rest }: FieldError): FieldError {
  return { ...rest, field: cut(field, FIELD_LENGTH_MAX), message: cut(message, TEXT_LENGTH_MAX) };
}

function cutValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value, TEXT_LENGTH_MAX);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return undefined;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => cutValue(item, depth + 1));
  const entries = Object.entries(value).slice(0, ITEMS_MAX);
  return Object.fromEntries(entries.map(([key, item]) => [cut(key, FIELD_LENGTH_MAX), cutValue(item, depth + 1)]));
}

/**
 * Bounds the size of an error answer, because errors quote the request. Only the first hundred faults are answered;
 * `details.errorCount` says how many there are.
 */
export function boundedError({ message, errors, details, suggestion }: AppError) {
  const isCut = errors !== undefined && errors.length > ERRORS_MAX;
  const shownDetails = isCut ? { ...details, errorCount: errors.length } : details;
  return {
    message: cut(message, MESSAGE_LENGTH_MAX),
    ...(errors && { errors: errors.slice(0, ERRORS_MAX).map(cutError) }),
    ...(shownDetails && { details: cutValue(shownDetails, 0) }),
    ...(suggestion && { suggestion: cut(suggestion, MESSAGE_LENGTH_MAX) }),
  };
}
