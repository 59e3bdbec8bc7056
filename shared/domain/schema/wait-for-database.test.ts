import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { ConfigError } from '../../platform/config.ts';
import { createLogger } from '../../platform/logger.ts';
import {
  createBlankDatabase,
  createTestDatabase,
  type BlankDatabase,
  type TestDatabase,
} from '../../../tests/support/database.ts';
import { waitForDatabase } from './wait-for-database.ts';

const role = `test_${randomBytes(6).toString('hex')}`;
const logger = createLogger({ level: 'silent', name: 'test' });

let own: TestDatabase;
let blank: BlankDatabase;
beforeAll(async () => {
  [own, blank] = await Promise.all([createTestDatabase(), createBlankDatabase()]);
});
afterAll(async () => {
  await blank.drop();
  await run(own.url, `drop role if exists ${role}`);
  await own.drop();
});

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

function changed(url: string, change: (url: URL) => void): string {
  const parts = new URL(url);
  change(parts);
  return parts.href;
}

async function expectFault(url: string, sentence: RegExp): Promise<void> {
  const open = () => Promise.reject(new Error('it must not be opened'));
  const error: unknown = await waitForDatabase(url, logger, open).catch((fault: unknown) => fault);
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toMatch(sentence);
  expect((error as Error).message).not.toContain(new URL(own.url).password);
}

it.each(['wrong', ''])('The password %j ends the wait', async (password) => {
  await expectFault(
    changed(own.url, (url) => (url.password = password)),
    /the user postgres is not let in\. Check user and password in DATABASE_URL/,
  );
});

it('A database that is not there ends the wait', async () => {
  await expectFault(
    changed(own.url, (url) => (url.pathname = '/nowhere')),
    /PostgreSQL at 127\.0\.0\.1:\d+\/nowhere: there is no such database\. Create it, or correct DATABASE_URL/,
  );
});

it('A user who may create no tables ends the wait', async () => {
  await run(blank.url, `create role ${role} login password 'a password'`);
  const url = changed(blank.url, (parts) => Object.assign(parts, { username: role, password: 'a password' }));
  await expectFault(url, new RegExp(`the user ${role} lacks a right \\(permission denied`));
});

it('Tables of another program end the wait, and nothing is changed', async () => {
  await run(blank.url, 'create table invoice (id int)');
  await expectFault(blank.url, /is not empty and not a database of Everpost \(it has the table invoice\)/);
  await run(blank.url, 'select 1 from invoice', 'drop table invoice');
});

it('A schema of a newer version ends the wait', async () => {
  await run(own.url, "insert into mikro_orm_migrations (name) values ('29991231000000-later')");
  await expectFault(own.url, /the schema of a newer version of Everpost \(29991231000000-later\)/);
  await run(own.url, "delete from mikro_orm_migrations where name = '29991231000000-later'");
});

it('A schema of before version 0.1.0 ends the wait', async () => {
  await run(own.url, "insert into mikro_orm_migrations (name) values ('20261121000000-initial')");
  await expectFault(
    own.url,
    /was made by a version of Everpost before 0\.1\.0, and its schema cannot be brought up to date\. Start with a new, empty database/,
  );
});
