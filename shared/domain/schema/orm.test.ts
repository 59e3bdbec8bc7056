import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createBlankDatabase, type BlankDatabase } from '../../../tests/support/database.ts';
import { migrateUp } from './migrate.ts';
import { createOrm, isMigrated } from './orm.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';

let database: BlankDatabase;
beforeAll(async () => {
  database = await createBlankDatabase();
});
afterAll(() => database.drop());

describe('migrateUp', () => {
  it('is safe when several processes start together, and when it is repeated', async () => {
    const orm = await createOrm({ databaseUrl: database.url, poolSize: 2 });
    try {
      expect(await isMigrated(orm)).toBe(false);
      await Promise.all(Array.from({ length: 4 }, () => migrateUp(database.url)));
      expect(await isMigrated(orm)).toBe(true);
      await migrateUp(database.url);
      const tables = await query(
        orm.em.fork(),
        sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
      );
      expect(tables.map((table) => table.name)).toEqual(
        expect.arrayContaining(['contact', 'email', 'event', 'outbox']),
      );
    } finally {
      await orm.close();
    }
  });

  it('fails when the server cannot be reached', async () => {
    await expect(migrateUp('postgres://127.0.0.1:1/none')).rejects.toThrow();
  });
});

describe('the values of raw queries', () => {
  it('are bound, whatever they contain, and come back as those of entities do', async () => {
    const orm = await createOrm({ databaseUrl: database.url, poolSize: 2 });
    try {
      const text = `'; drop table contact; -- $1 ? \\ "`;
      const [row] = await query(
        orm.em.fork(),
        sql`
          select ${text}::text as text, ${[1, 2]}::int[] as list, count(*) as count,
            '2026-02-01T12:00:00.123+02:00'::timestamptz(3) as at, '0099-01-01T00:00:00Z'::timestamptz as early
          from generate_series(1, ${3}::int)`,
      );
      expect(row).toEqual({
        text,
        list: [1, 2],
        count: 3,
        at: new Date('2026-02-01T10:00:00.123Z'),
        early: new Date('0099-01-01T00:00:00Z'),
      });
    } finally {
      await orm.close();
    }
  });
});
