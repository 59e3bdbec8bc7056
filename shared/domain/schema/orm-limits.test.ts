import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../tests/support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { isDatabaseUnavailable, isTooSlow } from '../../database/database-errors.ts';
import { createOrm, type Orm } from './orm.ts';
import type { SessionLimits } from '../../database/session-limits.ts';
import { limitStatements, queryPrepared, sql, inTransaction } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { startTcpProxy } from '../../../tests/support/tcp-proxy.ts';

const POOL_SIZE = 3;
const NAME = 'everpost-limited';
const LIMITS: SessionLimits = {
  statementMs: 400,
  lockMs: 200,
  idleInTransactionMs: 1_500,
  transactionMs: 5_000,
  parallelWorkers: 0,
};

let database: TestDatabase;
let orm: Orm;
const em = () => orm.em.fork();
const outside = () => database.orm.em.fork();
beforeAll(async () => {
  database = await createTestDatabase();
  await query(outside(), sql`create table thing (id int primary key, n int not null default 0)`);
  await query(outside(), sql`insert into thing (id) values (1), (2)`);
  orm = await createOrm({
    databaseUrl: database.url,
    poolSize: POOL_SIZE,
    applicationName: NAME,
    limits: LIMITS,
  });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

it('closes a connection to a server that has become read-only, so that the next one may lead to its successor', async () => {
  const pid = () => queryOne(one.em.fork(), sql`select pg_backend_pid() as pid`);
  const one = await createOrm({ databaseUrl: database.url, poolSize: 1, applicationName: `${NAME}-one` });
  try {
    const before = await pid();
    await query(one.em.fork(), sql`set default_transaction_read_only = on`);
    const write = query(one.em.fork(), sql`update thing set n = n + 1 where id = 0`);
    expect(isDatabaseUnavailable(await errorOf(write))).toBe(true);
    expect(await pid()).not.toEqual(before);
    await query(one.em.fork(), sql`update thing set n = n + 1 where id = 0`);
  } finally {
    await one.close();
  }
});

it('keeps nothing of a statement that has its answer', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;
  const oldBytes = () =>
    getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0;
  const run = async (statements: number) => {
    for (let n = 0; n < statements; n++) {
      const values = Array.from({ length: 500 }, (_, index) => `value ${index} of statement ${n}`);
      await queryPrepared(em(), sql`select count(*) from unnest(${values}::text[])`);
      if (n % 5 === 0) collect({ type: 'minor' });
    }
  };
  const keptBy = async (statements: number) => {
    collect({ type: 'major' });
    const before = oldBytes();
    await run(statements);
    return oldBytes() - before;
  };
  await run(50);
  // The values took 15 MB in every round. Other work of this process can add to a single round.
  let kept = await keptBy(300);
  for (let round = 1; round < 4 && kept >= 4_000_000; round++) kept = await keptBy(300);
  expect(kept).toBeLessThan(4_000_000);
});

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Every connection of the pool answers at the same time, and none of its sessions holds a lock. */
async function expectWholePool(): Promise<void> {
  const pids = await Promise.all(
    Array.from({ length: POOL_SIZE }, () => queryOne(em(), sql`select pg_backend_pid() as pid, pg_sleep(0.1)`)),
  );
  expect(new Set(pids.map((row) => row?.pid)).size).toBe(POOL_SIZE);
  await eventually(async () => {
    const open = await query(
      outside(),
      sql`select from pg_stat_activity where application_name = ${NAME} and state <> 'idle'`,
    );
    return open.length === 0;
  });
}

describe('a session with limits', () => {
  it('has every limit that the server knows', async () => {
    const rows = await query(
      em(),
      sql`
        select name, setting from pg_settings where name in ('statement_timeout', 'lock_timeout',
          'idle_in_transaction_session_timeout', 'transaction_timeout', 'max_parallel_workers_per_gather')
        order by name`,
    );
    const expected: Record<string, string> = {
      idle_in_transaction_session_timeout: '1500',
      lock_timeout: '200',
      max_parallel_workers_per_gather: '0',
      statement_timeout: '400',
      transaction_timeout: '5000',
    };
    for (const { name, setting } of rows) expect([name, setting]).toEqual([name, expected[name]]);
    expect(rows.length).toBeGreaterThanOrEqual(4);
  });

  it('ends a statement on the server, alone or in a transaction, and keeps its connection', async () => {
    const slow = await Promise.all(
      Array.from({ length: 3 * POOL_SIZE }, (_, index) =>
        errorOf(
          index % 2 === 0
            ? query(em(), sql`select pg_sleep(60)`)
            : inTransaction(em(), async (tx) => {
                await query(tx, sql`select from thing where id = ${index % 2} for update`);
                await query(tx, sql`select pg_sleep(60)`);
              }),
        ),
      ),
    );
    for (const error of slow) expect([isDatabaseUnavailable(error), isTooSlow(error)]).toEqual([true, true]);
    await expectWholePool();
  });

  it('waits for a lock no longer than its limit', async () => {
    const holder = outside();
    await holder.begin();
    await query(holder, sql`select from thing where id = 1 for update`);
    const error = await errorOf(query(em(), sql`update thing set n = n + 1 where id = 1`));
    expect(isTooSlow(error)).toBe(true);
    await holder.rollback();
    await expectWholePool();
  });

  it('ends a transaction that stays idle for too long and releases its locks', async () => {
    // Made outside: a unit of work made in a transaction's callback belongs to that transaction's pool.
    const observer = outside();
    const error = await errorOf(
      inTransaction(em(), async (tx) => {
        await query(tx, sql`update thing set n = 99 where id = 1`);
        await eventually(async () => {
          const open = await query(
            observer,
            sql`select from pg_stat_activity where application_name = ${NAME}
            and state = 'idle in transaction'`,
          );
          return open.length === 0;
        });
        await query(tx, sql`select 1`);
      }),
    );
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(await queryOne(outside(), sql`select n from thing where id = 1 for update nowait`)).toEqual({ n: 0 });
    await expectWholePool();
  });

  it('gives up on a server that does not answer, and has all its connections again afterwards', async () => {
    const proxy = await startTcpProxy(database.url);
    const limits = { ...LIMITS, statementMs: 100 };
    const distant = await createOrm({ databaseUrl: proxy.url, poolSize: POOL_SIZE, applicationName: NAME, limits });
    const unit = () => distant.em.fork();
    const touch = (between?: () => void) =>
      inTransaction(unit(), async (tx) => {
        await query(tx, sql`update thing set n = n + 1 where id = 2`);
        between?.();
        await query(tx, sql`select 1`);
      });
    try {
      await Promise.all(Array.from({ length: POOL_SIZE }, () => query(unit(), sql`select pg_sleep(0.05)`)));
      const silent: Promise<unknown>[] = [];
      await new Promise<void>((resolve) => {
        const freeze = (): void => {
          proxy.freeze();
          resolve();
        };
        silent.push(errorOf(touch(freeze)));
      });
      silent.push(...Array.from({ length: 3 * POOL_SIZE }, () => errorOf(touch())));
      for (const error of await Promise.all(silent)) expect(isDatabaseUnavailable(error)).toBe(true);
      expect(await queryOne(outside(), sql`select n from thing where id = 2 for update nowait`)).toEqual({ n: 0 });
      proxy.thaw();
      // One after the other: together they would wait for the same row, which a busy machine makes long.
      for (let n = 0; n < 3 * POOL_SIZE; n++) await touch();
      expect(await queryOne(outside(), sql`select n from thing where id = 2`)).toEqual({ n: 3 * POOL_SIZE });
    } finally {
      await distant.close();
      await proxy.close();
    }
    await expectWholePool();
  });

  it('lets a transaction raise the limit of its own statements', async () => {
    const slept = await inTransaction(em(), async (tx) => {
      await limitStatements(tx, 10_000);
      return query(tx, sql`select pg_sleep(0.6)`);
    });
    expect(slept).toHaveLength(1);
    expect(isTooSlow(await errorOf(query(em(), sql`select pg_sleep(60)`)))).toBe(true);
  });
});
