import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { createResultBuffer, type ResultBuffer } from './result-buffer.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await query(
    database.orm.em.fork(),
    sql`create table meeting (name text primary key, touched int not null default 0)`,
  );
  await query(database.orm.em.fork(), sql`insert into meeting (name) values ('a'), ('b')`);
});
afterAll(() => database.drop());

interface Calls {
  waits: unknown[];
  kept: string[];
}

describe('a result buffer', () => {
  const result = { emailId: 'e', verdict: 'sent', subject: null, error: null } as const;

  async function isSomebodyWaiting(): Promise<boolean> {
    const rows = await query(
      database.orm.em.fork(),
      sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'update meeting%'`,
    );
    return rows.length > 0;
  }

  it('records results again after PostgreSQL ended the transaction in a deadlock', async () => {
    const em = () => database.orm.em.fork();
    const touch = (unit: ReturnType<typeof em>, name: string) =>
      query(unit, sql`update meeting set touched = touched + 1 where name = ${name}`);
    const opponent = em();
    await opponent.begin();
    // PostgreSQL ends the transaction that detects the deadlock.
    await query(opponent, sql`set local deadlock_timeout = '1h'`);
    await touch(opponent, 'b');
    let attempts = 0;
    let crossing: Promise<unknown> | undefined;
    const buffer = createResultBuffer({
      onSent: () => undefined,
      maxItems: 1,
      maxAgeMs: 10,
      signal: new AbortController().signal,
      keep: () => Promise.reject(new Error('not expected')),
      record: () =>
        em().transactional(async (tx) => {
          attempts += 1;
          await query(tx, sql`set local deadlock_timeout = '10ms'`);
          await touch(tx, 'a');
          if (!crossing) {
            crossing = touch(opponent, 'a').then(() => opponent.commit());
            await eventually(isSomebodyWaiting);
          }
          await touch(tx, 'b');
        }),
    });
    buffer.add(result);
    await buffer.drain();
    await crossing;
    expect(attempts).toBe(2);
    expect(await query(em(), sql`select name, touched from meeting order by name`)).toEqual([
      { name: 'a', touched: 2 },
      { name: 'b', touched: 2 },
    ]);
  });

  it('accepts no more results than may be lost while others are being recorded', async () => {
    const recorded: number[] = [];
    let finish = (): void => undefined;
    const buffer = createResultBuffer({
      onSent: () => undefined,
      maxItems: 3,
      maxAgeMs: 10_000,
      signal: new AbortController().signal,
      keep: () => Promise.reject(new Error('not expected')),
      async record(results) {
        if (recorded.length === 0) await new Promise<void>((resolve) => (finish = resolve));
        recorded.push(results.length);
      },
    });
    for (let count = 0; count < 6; count += 1) {
      await buffer.ready();
      buffer.add(result);
    }
    let isReady = false;
    const asked = buffer.ready().then(() => (isReady = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isReady).toBe(false);
    finish();
    await asked;
    await buffer.drain();
    expect(recorded).toEqual([3, 3]);
  });

  it('records all results, and without its texts the one that PostgreSQL refuses', async () => {
    await query(
      database.orm.em.fork(),
      sql`create table outcome (id text primary key, verdict text, words text check (words not like '%refused%'))`,
    );
    const buffer = createResultBuffer({
      onSent: () => undefined,
      maxItems: 5,
      maxAgeMs: 10,
      signal: new AbortController().signal,
      keep: () => Promise.reject(new Error('not expected')),
      async record(results) {
        await query(
          database.orm.em.fork(),
          sql`insert into outcome select * from unnest(
            ${results.map(({ emailId }) => emailId)}::text[], ${results.map(({ verdict }) => verdict)}::text[],
            ${results.map(({ subject, error }) => subject ?? error)}::text[])`,
        );
      },
    });
    buffer.add({ ...result, emailId: 'a' });
    buffer.add({ ...result, emailId: 'b', verdict: 'failed', error: 'a refused value' });
    buffer.add({ ...result, emailId: 'c', verdict: 'deferred', error: 'later' });
    buffer.add({ ...result, emailId: 'd', subject: 'also refused' });
    buffer.add({ ...result, emailId: 'e' });
    await buffer.drain();
    expect(await query(database.orm.em.fork(), sql`select * from outcome order by id`)).toEqual([
      { id: 'a', verdict: 'sent', words: null },
      { id: 'b', verdict: 'failed', words: 'The answer of the server cannot be stored.' },
      { id: 'c', verdict: 'deferred', words: 'later' },
      { id: 'd', verdict: 'sent', words: null },
      { id: 'e', verdict: 'sent', words: null },
    ]);
  });

  it('returns the error of a recording that failed, and records nothing after it', async () => {
    let attempts = 0;
    const buffer = createResultBuffer({
      onSent: () => undefined,
      maxItems: 1,
      maxAgeMs: 10,
      signal: new AbortController().signal,
      keep: () => Promise.reject(new Error('not expected')),
      async record() {
        attempts += 1;
        await query(database.orm.em.fork(), sql`select 1 / (touched - touched) from meeting`);
      },
    });
    buffer.add(result);
    await expect(buffer.drain()).rejects.toThrow('division by zero');
    buffer.add(result);
    await expect(buffer.drain()).rejects.toThrow('division by zero');
    expect(attempts).toBe(1);
  });

  /** A buffer whose recordings wait for a table that another session has locked. */
  async function whileLocked(
    work: (locked: { buffer: ResultBuffer; stop: () => void; calls: Calls }) => Promise<void>,
  ) {
    const opponent = database.orm.em.fork();
    await opponent.begin();
    await query(opponent, sql`lock table meeting in access exclusive mode`);
    const stopping = new AbortController();
    const calls: Calls = { waits: [], kept: [] };
    const buffer = createResultBuffer({
      onSent: () => undefined,
      maxItems: 1,
      maxAgeMs: 10,
      signal: stopping.signal,
      onWait: (error) => calls.waits.push(error),
      async keep(results) {
        calls.kept.push(...results.map(({ emailId }) => emailId));
      },
      record: () =>
        database.orm.em.fork().transactional(async (tx) => {
          await query(tx, sql`set local lock_timeout = '50ms'`);
          await query(tx, sql`update meeting set touched = touched + 1`);
        }),
    });
    try {
      await work({ buffer, stop: () => stopping.abort(), calls });
    } finally {
      if (opponent.isInTransaction()) await opponent.rollback();
    }
  }

  it('waits for a lock as long as it is held, whatever the clock says', async () => {
    const realNow = Date.now;
    await whileLocked(async ({ buffer, calls }) => {
      buffer.add(result);
      Date.now = () => realNow() + 86_400_000;
      await eventually(() => Promise.resolve(calls.waits.length > 2));
      expect(buffer.failure()).toBeUndefined();
      expect(calls.kept).toEqual([]);
    }).finally(() => (Date.now = realNow));
  });

  it('keeps what PostgreSQL cannot take when the attempt must end', async () => {
    await whileLocked(async ({ buffer, stop, calls }) => {
      buffer.add(result);
      await eventually(() => Promise.resolve(calls.waits.length > 0));
      stop();
      buffer.add({ ...result, emailId: 'on the wire' });
      await buffer.drain();
      expect(calls.kept).toEqual(['e', 'on the wire']);
    });
  });
});
