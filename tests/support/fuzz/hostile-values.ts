import fc from 'fast-check';

const KILOBYTE = 1024;

/** Placeholders for JSON that JSON.stringify cannot write; see `writeJson`. */
const RAW: Record<string, string> = {
  '$raw(huge)': '1e400',
  '$raw(precise)': '9007199254740993.00000000000000000001',
  '$raw(exponent)': '1E-4000',
  '$raw(proto)': '{"__proto__":{"email":"a@example.com","isAdmin":true},"constructor":{"prototype":{}}}',
  '$raw(twice)': '{"a":1,"a":{"a":2}}',
  '$raw(deep)': `${'['.repeat(400)}${']'.repeat(400)}`,
  '$raw(deeper)': `${'{"a":'.repeat(6_000)}0${'}'.repeat(6_000)}`,
};

const TEXTS = [
  '\0',
  'a\0b',
  '\ud800',
  '\udc00\ud800',
  '\ufeff',
  '\u202e\u2066',
  '\r\nBcc: a@example.com',
  '\u2028',
  ' ',
  '\t',
  "' or 1=1 --",
  '%',
  '_',
  '\\',
  '\\u0000',
  '${x}',
  '{{{{',
  '{{#each a}}{{#each a}}',
  '{{constructor}}',
  '../../etc',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'NaN',
  'null',
  'undefined',
  '-0',
  '1e999',
  '0x10',
  '\u0661',
  '2026-02-30',
  '2026-13-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00Z',
  '10000-01-01',
  '2026-06-30T23:59:60Z',
  '2026-01-01T00:00:00+99:99',
  '-000001-01-01T00:00:00Z',
  'infinity',
  'now',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '01890000-0000-7000-8000-00000000000',
  'a@b',
  '@',
  'a@@example.com',
  'a@example.com,b@example.com',
  `${'a'.repeat(250)}@example.com`,
  'a@xn--zz.example',
  'https://[::1]/',
  'javascript:alert(1)',
  'http://\u0000',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(50),
  'x'.repeat(5 * KILOBYTE),
  'x'.repeat(120 * KILOBYTE),
  'a.'.repeat(2_000),
  '{{a}}'.repeat(3_000),
  '\u{10ffff}'.repeat(9_000),
];

/** Texts that parsers, PostgreSQL or an email may handle wrongly. */
export const hostileText = fc.constantFrom(...TEXTS);

/** Values of any type that may be handled wrongly. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 2, arbitrary: fc.constantFrom(...Object.keys(RAW)) },
  fc.constantFrom<unknown>(
    -0,
    2 ** 53,
    -(2 ** 63),
    1e308,
    5e-324,
    null,
    [[]],
    {},
    { '': '' },
    { a: { b: { c: [null] } } },
  ),
  hostileText.map((key) => ({ [key]: key })),
  fc.constantFrom<unknown>(Array(3_000).fill(0), Array(2_000).fill('x'), Array(500).fill({})),
  fc.jsonValue(),
);

/** The value as JSON, with the placeholders filled in. */
export function writeJson(value: unknown): string {
  let text = JSON.stringify(value);
  for (const [placeholder, raw] of Object.entries(RAW)) text = text.replaceAll(`"${placeholder}"`, raw);
  return text;
}
