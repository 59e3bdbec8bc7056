import type { z } from 'zod';

type Issue = Parameters<z.core.$ZodErrorMap>[0];

/** The words of callers for the types of zod. */
const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'an id (a UUID)',
  email: 'an email address',
  url: 'a URL',
  date: 'a date such as 2026-01-31',
  datetime: 'a date and time such as 2026-01-31T09:00:00Z',
  base64: 'base64',
};

/** The unit of a size; a number has none. */
const UNITS: Readonly<Record<string, [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

function sizeMessage(
  { origin, exact = false, inclusive = true }: { origin: string; exact?: boolean; inclusive?: boolean },
  limit: number | bigint,
  bound: 'least' | 'most',
): string {
  const [one, many] = UNITS[origin] ?? [];
  const beyond = bound === 'least' ? 'greater' : 'less';
  if (one === undefined || many === undefined) {
    return inclusive ? `Must be at ${bound} ${limit}` : `Must be ${beyond} than ${limit}`;
  }
  if (limit === 1 && bound === 'least' && !exact) return 'Must not be empty';
  return `Must have ${exact ? 'exactly' : `at ${bound}`} ${limit} ${Number(limit) === 1 ? one : many}`;
}

function formatMessage(issue: Extract<Issue, { code: 'invalid_format' }>): string {
  const format = FORMATS[issue.format];
  if (format !== undefined) return `Must be ${format}`;
  return issue.pattern === undefined ? 'Must have another format' : `Must match the pattern ${issue.pattern}`;
}

/** Lists the accepted values. */
function oneOf(values: readonly unknown[]): string {
  return `Must be ${values.length > 1 ? 'one of ' : ''}${values.map(String).join(', ')}`;
}

/**
 * Tells in plain words what is wrong with a value, unless its schema has a message of its own. The messages of zod use
 * words of JavaScript: a missing value is `undefined`, and a text that is not a number is `NaN`.
 */
function messageOf(issue: Issue): string {
  if (issue.input === undefined && ['invalid_type', 'invalid_value'].includes(issue.code)) return 'Required';
  switch (issue.code) {
    case 'invalid_type':
      return `Must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_format':
      return formatMessage(issue);
    case 'too_small':
      return sizeMessage(issue, issue.minimum, 'least');
    case 'too_big':
      return sizeMessage(issue, issue.maximum, 'most');
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'This field does not exist';
    case 'invalid_key':
      return `The name cannot be used: ${issue.issues[0]?.message ?? 'it is not allowed'}`;
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? oneOf(issue.options)
        : 'Must have one of the documented forms';
    case 'invalid_element':
    case 'custom':
      return 'Is not allowed';
  }
}

/** The options with which schemas check input from outside: issues hold the input, and a message for callers. */
export const CHECKS = { reportInput: true, error: messageOf } satisfies z.core.ParseContext<z.core.$ZodIssue>;
