import { z } from 'zod';
import { FORBIDDEN_KEY } from './contacts/custom-data.ts';

function countOf(input: unknown): number {
  if (Array.isArray(input)) return input.length;
  return typeof input === 'object' && input !== null ? Object.keys(input).length : 0;
}

/**
 * `schema` for lists and objects of at most `max` items. The items are counted before any of them is validated. An object
 * with a key `__proto__` is refused, because a record of zod would drop the key.
 */
export function atMost<Schema extends z.ZodType>(max: number, schema: Schema) {
  return z.preprocess((input, context) => {
    if (typeof input === 'object' && input !== null && Object.hasOwn(input, FORBIDDEN_KEY)) {
      const message = `A key cannot be ${FORBIDDEN_KEY}`;
      context.addIssue({ code: 'custom', path: [FORBIDDEN_KEY], message, params: { code: 'invalid_key' } });
      return z.NEVER;
    }
    if (countOf(input) <= max) return input;
    const origin = Array.isArray(input) ? 'array' : 'object';
    const issue = { code: 'too_big', origin, maximum: max, inclusive: true, input: undefined } as const;
    context.addIssue({ ...issue, message: `Must have at most ${max} items` });
    return z.NEVER;
  }, schema);
}

/** An array of at most `max` items. */
export function boundedArray<Item extends z.ZodType>(item: Item, max: number) {
  return atMost(max, z.array(item).max(max));
}
