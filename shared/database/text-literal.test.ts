import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { useTestDatabase } from '../../tests/support/database.ts';
import { textLiteral } from './text-literal.ts';

const database = useTestDatabase();
const letter = fc.constantFrom("'", '\\', '"', '$', '?', '\n', '{', 't', 'ß', '\u{1f600}');

/** The text that PostgreSQL reads. */
async function readBack(text: string): Promise<unknown> {
  const statement = `select ${textLiteral(text)} as text`;
  const rows = await database.em().getConnection().execute<{ text: string }[]>(statement);
  return rows[0]?.text;
}

describe('textLiteral', () => {
  it('writes a text as the driver does', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: letter }), fc.string({ unit: 'binary' })), (text) => {
        expect(textLiteral(text)).toBe(pg.escapeLiteral(text));
      }),
    );
  });

  it('writes a long text so that PostgreSQL reads the same', async () => {
    for (const end of ['', '$', '$$', '$t', '$tag$', "'", '\\', '?', '??']) {
      const text = `${end}it's \\ ? $1 $tag$ ${'ß\u{1f600}\n'.repeat(5_000)}${end}`;
      expect(await readBack(text)).toBe(text);
    }
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: letter, minLength: 10_001, maxLength: 10_100 }), async (text) => {
        expect(await readBack(text)).toBe(text);
      }),
      { numRuns: 20 },
    );
  });

  it('adds few characters to a text of megabytes, because escaping each quote would take long', () => {
    const text = "'\\".repeat(1_000_000);
    expect(textLiteral(text).length - text.length).toBeLessThan(100);
  });
});
