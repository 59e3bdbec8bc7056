import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { sql, type Em } from '../../shared/database/sql.ts';
import { query } from './rows.ts';
import { createOrm, type Orm } from '../../shared/domain/schema/orm.ts';
import { testEnvironment } from './environment.ts';
import { EmailEntity } from './entities/email.entity.ts';
import { EventEntity } from './entities/event.entity.ts';
import { eventually } from './eventually.ts';

export interface TestDatabase {
  url: string;
  orm: Orm;
  /** Closes the ORM and removes the database, also when others are still connected. */
  drop: () => Promise<void>;
}

async function runAsAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: testEnvironment().databaseAdminUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function urlOf(database: string): string {
  const url = new URL(testEnvironment().databaseAdminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export interface BlankDatabase {
  url: string;
  drop: () => Promise<void>;
}

async function createDatabase(template: string): Promise<BlankDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // The default strategy also writes each page of the template to the WAL, which takes several times as long.
  await runAsAdmin(`create database ${name} template ${template} strategy file_copy`);
  return { url: urlOf(name), drop: () => runAsAdmin(`drop database if exists ${name} with (force)`) };
}

/** A database without any table. */
export async function createBlankDatabase(): Promise<BlankDatabase> {
  return createDatabase('template1');
}

/** A migrated, empty database of its own for one test file: a clone of the run's template database. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(testEnvironment().templateDatabase);
  const orm = await createOrm({ databaseUrl: url, applicationName: 'everpost-test' });
  orm.discoverEntity([EmailEntity, EventEntity]);
  return {
    url,
    orm,
    async drop() {
      await orm.close();
      await drop();
    },
  };
}

/** A database for all tests of a file. Call it at the top of the file; `em` makes a unit of work on the database. */
export function useTestDatabase(): { em: () => Em } {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  return { em: () => database.orm.em.fork() };
}

/** Waits until a session of the database waits for a lock, or until `count` sessions do. */
export async function untilBlocked(em: () => Em, count?: number, timeoutMs?: number): Promise<void> {
  const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await eventually(async () => {
    const { length } = await query(em(), waiting);
    return count === undefined ? length > 0 : length === count;
  }, timeoutMs);
}
