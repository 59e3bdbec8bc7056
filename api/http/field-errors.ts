import type { z } from 'zod';
import { validationError, type FieldError } from '../../shared/pure/app-error.ts';
import { CHECKS } from '../../shared/pure/schema-messages.ts';

type Issue = z.core.$ZodIssue;

/** zod 4 has renamed these codes; callers know the names of the interface document. */
const CODES: Record<string, string> = { invalid_format: 'invalid_string', invalid_value: 'invalid_enum_value' };
const RECEIVED_LENGTH_MAX = 200;
const ISSUES_MAX = 1_000;

function codeOf(issue: Issue): string {
  if (issue.code === 'custom') {
    const code: unknown = issue.params?.['code'];
    return typeof code === 'string' ? code : 'custom';
  }
  const isLongKey = issue.code === 'invalid_key' && issue.issues.some(({ code }) => code === 'too_big');
  return isLongKey ? 'too_big' : (CODES[issue.code] ?? issue.code);
}

/** Only short plain values are echoed, no whole bodies or files. */
function receivedOf(issue: Issue): Pick<FieldError, 'received'> {
  const value = issue.input;
  if (value === undefined || Number.isNaN(value) || (typeof value === 'object' && value !== null)) return {};
  if (typeof value === 'string' && value.length > RECEIVED_LENGTH_MAX) return {};
  return { received: value };
}

function depthOf(issues: Issue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}

function missingCount(issues: Issue[]): number {
  return issues.filter((issue) => issue.code === 'invalid_type' && issue.input === undefined).length;
}

function isOfAnotherType(issues: Issue[]): boolean {
  return issues.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0);
}

/** The fault of a value whose type fits no member of a union. */
function asWrongType(issue: Issue): Issue {
  const message = issue.input === undefined ? 'Required' : 'A value of this type is not accepted here';
  return { ...issue, code: 'custom', message, params: { code: 'invalid_type' } };
}

/**
 * The faults by the union member that the caller probably meant: the one whose faults lie deepest, then the one that
 * misses the fewest fields, then one that has the type of the input.
 */
function unwrapUnion(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [best] = [...issue.errors].sort(
    (left, right) =>
      depthOf(right) - depthOf(left) ||
      missingCount(left) - missingCount(right) ||
      Number(isOfAnotherType(left)) - Number(isOfAnotherType(right)),
  );
  if (!best) return [issue];
  if (isOfAnotherType(best)) return [asWrongType(issue)];
  return best.flatMap((inner) => unwrapUnion({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** One fault for each unknown key, with the path of the key. */
function perKey(issue: Issue): Issue[] {
  if (issue.code !== 'unrecognized_keys') return [issue];
  return issue.keys.map((key) => ({ ...issue, path: [...issue.path, key] }));
}

/** Translates zod's issues into the field errors of the error envelope, the first thousand at most. */
export function fieldErrorsOf(error: Pick<z.ZodError, 'issues'>): FieldError[] {
  const issues = error.issues.slice(0, ISSUES_MAX).flatMap(unwrapUnion).flatMap(perKey).slice(0, ISSUES_MAX);
  return issues.map((issue) => ({
    field: issue.path.map(String).join('.'),
    message: issue.message,
    code: codeOf(issue),
    ...receivedOf(issue),
  }));
}

/** Reads what a caller has sent. @throws AppError VALIDATION_ERROR */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input, CHECKS);
  if (!result.success) throw validationError(fieldErrorsOf(result.error));
  return result.data;
}
