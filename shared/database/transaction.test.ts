import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { untilBlocked, useTestDatabase } from '../../tests/support/database.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { isConflict } from './database-errors.ts';
import { sql, inTransaction } from './sql.ts';
import { query } from '../../tests/support/rows.ts';

const { em } = useTestDatabase();
beforeAll(async () => {
  await query(em(), sql`create table thing (id int primary key, n int not null)`);
});
beforeEach(async () => {
  await query(em(), sql`truncate thing`);
  await query(em(), sql`insert into thing select i, 0 from generate_series(1, 4) i`);
});

const conflict = () => Object.assign(new Error('deadlock detected'), { code: '40P01' });

async function numbers(): Promise<number[]> {
  return (await query(em(), sql`select n from thing order by id`)).map((row) => row.n);
}

describe('inTransaction', () => {
  it('lets transactions that lock in opposite orders all succeed, each once', async () => {
    let runs = 0;
    let locked = 0;
    const touch = ([first, second]: [number, number]) =>
      inTransaction(em(), async (tx) => {
        runs++;
        await query(tx, sql`update thing set n = n + 1 where id = ${first}`);
        locked++;
        await eventually(async () => locked >= 4);
        await query(tx, sql`update thing set n = n + 1 where id = ${second}`);
      });
    await Promise.all([touch([1, 2]), touch([2, 1]), touch([3, 4]), touch([4, 3])]);
    expect(await numbers()).toEqual([2, 2, 2, 2]);
    expect(runs).toBeGreaterThan(4);
  });

  it('repeats a serialization failure', async () => {
    let runs = 0;
    await inTransaction(em(), async (tx) => {
      await query(tx, sql`update thing set n = n + 1 where id = 1`);
      if (++runs < 3) await query(tx, sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`);
    });
    expect([runs, (await numbers())[0]]).toEqual([3, 1]);
  });

  it('gives up after three repetitions, and repeats nothing else', async () => {
    const errors = [conflict(), new Error('another fault')];
    const runs = await Promise.all(
      errors.map(async (error) => {
        let count = 0;
        const work = inTransaction(em(), async () => {
          count++;
          throw error;
        });
        await expect(work).rejects.toBe(error);
        return count;
      }),
    );
    expect(runs).toEqual([4, 1]);
  });

  it('joins the transaction of its unit of work, which is repeated as a whole', async () => {
    let runs = 0;
    await inTransaction(em(), async (tx) => {
      await query(tx, sql`update thing set n = n + 1 where id = 1`);
      await inTransaction(tx, async (inner) => {
        expect(inner).toBe(tx);
        await query(inner, sql`update thing set n = n + 1 where id = 2`);
        if (++runs === 1) throw conflict();
      });
    });
    expect(await numbers()).toEqual([1, 1, 0, 0]);
  });
});

describe('a statement outside of a transaction', () => {
  it('is repeated after a deadlock', async () => {
    const opponent = em();
    await opponent.begin();
    await query(opponent, sql`update thing set n = n + 10 where id = 2`);
    const statement = query(
      em(),
      sql`
        with first as materialized (select id from thing where id = 1 for update)
        update thing set n = n + 1 where id = (select 2 from first)`,
    );
    await untilBlocked(em);
    const crossing = query(opponent, sql`update thing set n = n + 10 where id = 1`);
    const lost = await crossing.then(
      () => undefined,
      (error: unknown) => error,
    );
    // PostgreSQL chooses which transaction loses.
    if (lost === undefined) await opponent.commit();
    else await opponent.rollback();
    await statement;
    const gained = lost === undefined ? 10 : 0;
    expect(await numbers()).toEqual([gained, gained + 1, 0, 0]);
  });
});

it('isConflict tells a deadlock from other errors', () => {
  expect([isConflict(conflict()), isConflict(new Error('x')), isConflict(undefined)]).toEqual([true, false, false]);
});
