import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { createOrm, type Orm } from '../domain/schema/orm.ts';
import { renewPlans } from './fresh-plans.ts';
import { query, queryPrepared, sql } from './sql.ts';
import { text } from './tables.ts';

let database: TestDatabase;
let orm: Orm;
beforeAll(async () => {
  database = await createTestDatabase();
  orm = await createOrm({ databaseUrl: database.url, poolSize: 1 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

describe('the plan of a prepared statement', () => {
  const em = () => orm.em.fork();

  const find = () =>
    queryPrepared(em(), sql`select id::text from filling where id = any(${['1']}::int[])`, { id: text });

  /** The plan that the session has kept. */
  async function readPlan(): Promise<string> {
    const [found] = await query(
      em(),
      sql`select name from pg_prepared_statements where statement like '%from filling where%' and name <> ''`,
      { name: text },
    );
    const rows = await em()
      .getConnection()
      .execute<Record<string, string>[]>(`explain execute "${found?.name}"('{1}')`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  it('changes when a table has grown that was empty, before statistics are taken', async () => {
    await query(
      em(),
      sql`create table filling (id int primary key, filler char(2000)) with (autovacuum_enabled = off)`,
    );
    await query(em(), sql`set plan_cache_mode = force_generic_plan`);
    await find();
    expect(await readPlan()).toContain('Seq Scan');

    await query(em(), sql`insert into filling select n, 'x' from generate_series(1, 2000) n`);
    for (let uses = 0; uses < 64; uses++) await find();
    expect(await readPlan()).not.toContain('Seq Scan');
  });

  it('is discarded before a connection is lent, because the driver takes one statement at a time', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    let [open, statements] = [0, 0];
    pool.on('connect', (client) => {
      const run = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
      const counted = (...given: unknown[]) => {
        [open, statements] = [open + 1, statements + 1];
        return run(...given).finally(() => (open -= 1));
      };
      client.query = counted as typeof client.query;
    });
    renewPlans(pool);
    for (let uses = 0; uses < 64; uses++) {
      const client = await pool.connect();
      expect(open).toBe(0);
      client.release();
    }
    expect(statements).toBe(2);
    await pool.end();
  });
});
