import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { CHECKS } from './schema-messages.ts';

const short = z.string().max(2);
const kinds = z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]);

const CASES: [schema: z.ZodType, input: unknown, message: string][] = [
  [z.string(), undefined, 'Required'],
  [z.enum(['a', 'b']), undefined, 'Required'],
  [z.string(), 5, 'Must be a string'],
  [z.string(), null, 'Must be a string'],
  [z.number(), '5', 'Must be a number'],
  [z.coerce.number(), 'five', 'Must be a number'],
  [z.number(), Infinity, 'Must be a number'],
  [z.int(), 1.5, 'Must be a whole number'],
  [z.int(), 1e300, 'Must be at most 9007199254740991'],
  [z.boolean(), 'yes', 'Must be true or false'],
  [z.array(z.string()), {}, 'Must be an array'],
  [z.object({}), [], 'Must be an object'],
  [z.record(z.string(), z.string()), 'x', 'Must be an object'],
  [z.literal('a'), 'b', 'Must be a'],
  [z.enum(['a', 'b']), 'c', 'Must be one of a, b'],
  [kinds, { kind: 'c' }, 'Must be one of a, b'],
  [z.stringbool({ truthy: ['true'], falsy: ['false'] }), 'x', 'Must be one of true, false'],
  [z.string().min(1), '', 'Must not be empty'],
  [z.array(z.string()).min(1), [], 'Must not be empty'],
  [z.string().min(2), 'x', 'Must have at least 2 characters'],
  [short, 'abc', 'Must have at most 2 characters'],
  [z.array(z.string()).max(1), ['', ''], 'Must have at most 1 item'],
  [z.string().length(3), 'x', 'Must have exactly 3 characters'],
  [z.number().min(1), 0, 'Must be at least 1'],
  [z.number().max(1), 2, 'Must be at most 1'],
  [z.number().positive(), 0, 'Must be greater than 0'],
  [z.number().negative(), 0, 'Must be less than 0'],
  [z.number().multipleOf(5), 3, 'Must be a multiple of 5'],
  [z.uuid(), 'x', 'Must be an id (a UUID)'],
  [z.email(), 'x', 'Must be an email address'],
  [z.url(), 'x', 'Must be a URL'],
  [z.iso.date(), 'x', 'Must be a date such as 2026-01-31'],
  [z.iso.datetime(), 'x', 'Must be a date and time such as 2026-01-31T09:00:00Z'],
  [z.base64(), '?', 'Must be base64'],
  [z.string().regex(/^a$/), 'b', 'Must match the pattern /^a$/'],
  [z.strictObject({}), { a: 1 }, 'This field does not exist'],
  [z.record(short, z.string()), { abc: '' }, 'The name cannot be used: Must have at most 2 characters'],
  [z.union([z.string(), z.array(z.string())]), 5, 'Must have one of the documented forms'],
  [z.string().refine(() => false), 'x', 'Is not allowed'],
  [z.string().min(2, 'Own words'), 'x', 'Own words'],
];

it.each(CASES.map(([schema, input, message]) => [message, input, schema] as const))(
  'a schema says "%s" of %j',
  (message, input, schema) => {
    expect(schema.safeParse(input, CHECKS).error?.issues[0]?.message).toBe(message);
  },
);
