import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { useTestDatabase } from '../../tests/support/database.ts';
import { json, sql } from './sql.ts';
import { queryOne } from '../../tests/support/rows.ts';

const database = useTestDatabase();
const HALVES = ['\ud800', '\udc00'];
const key = fc.string({ unit: fc.constantFrom('\0', ...HALVES, 'ß', '\u{1f600}') });
const text = fc.string({ unit: fc.constantFrom('\0', ...HALVES, '\u{1f600}', '\\', 'u', 'd8', '0000', '"', '\n') });
const storable = (value: string) => value.toWellFormed().replaceAll('\0', '\ufffd');

describe('json', () => {
  it('makes JSON that PostgreSQL stores, whatever characters are in it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(key, fc.array(text)), async (value) => {
        const row = await queryOne(database.em(), sql`select ${json(value)}::jsonb as stored`);
        const entries = Object.entries(value).map(([name, texts]) => [storable(name), texts.map(storable)]);
        expect(row?.stored).toEqual(Object.fromEntries(entries));
      }),
    );
  });
});
