import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import { createTestDatabase, untilBlocked, type TestDatabase } from '../../tests/support/database.ts';
import { createApiProcess } from '../../tests/support/api-process.ts';
import { callsTo, startTestApi, type TestApi, type TestProject, type TestReply } from '../../tests/support/api.ts';
import { eventually } from '../../tests/support/stack.ts';
import { testEnvironment } from '../../tests/support/environment.ts';
import { startTcpProxy, type TcpProxy } from '../../tests/support/tcp-proxy.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let app: TestApi;
let key: string;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  const config = { DATABASE_POOL_SIZE: 4, API_STATEMENT_TIMEOUT_SECONDS: 1 };
  app = await startTestApi({ database, databaseUrl: proxy.url, config });
});
afterAll(async () => {
  await app.stop();
  await proxy.close();
  await database.drop();
});
beforeEach(() => {
  key = randomUUID();
});

function track(api: TestProject['api'] = app.api): Promise<TestReply> {
  return api('POST', '/v1/track', {
    key: 'public',
    body: { email: 'ada@example.com', event: key },
    headers: { 'idempotency-key': key },
  });
}

async function eventCount(): Promise<number> {
  return (await queryOne(app.em(), sql`select count(*) from event where name = ${key}`))?.count ?? 0;
}

/** Holds the row that every request here writes until `release`. */
async function holdContact(): Promise<() => Promise<void>> {
  await app.api('POST', '/contacts', { body: { email: 'ada@example.com' } });
  const holder = app.em();
  await holder.begin();
  await query(holder, sql`select from contact for update`);
  return () => holder.rollback();
}

describe('a request under an Idempotency-Key', () => {
  it('that waits too long for a lock is a 503, and succeeds under the same key once the lock is released', async () => {
    const release = await holdContact();
    const refused = await track();
    await release();
    expect([refused.status, refused.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await track()).status).toBe(200);
    expect((await track()).status).toBe(409);
    expect(await eventCount()).toBe(1);
  });

  it('that loses its connection is a 503, and succeeds under the same key as soon as PostgreSQL is back', async () => {
    const release = await holdContact();
    const interrupted = track();
    await untilBlocked(app.em);
    await proxy.cut();
    expect((await interrupted).status).toBe(503);
    expect((await track()).status).toBe(503);
    await release();
    await proxy.restore();
    expect((await track()).status).toBe(200);
    expect(await eventCount()).toBe(1);
  });

  it('that gets no answer from PostgreSQL is a 503, and succeeds under the same key after the silence', async () => {
    const release = await holdContact();
    const interrupted = track();
    await untilBlocked(app.em);
    proxy.freeze();
    await release();
    expect((await interrupted).status).toBe(503);
    proxy.thaw();
    const retried = await eventually(async () => {
      const reply = await track();
      return reply.status !== 503 && reply;
    });
    // The statement whose answer was lost was the last one before the COMMIT, which never came.
    expect(retried.status).toBe(200);
    expect(await eventCount()).toBe(1);
  });
});

describe('a killed API process', () => {
  it('leaves no Idempotency-Key behind that another process would refuse', async () => {
    const address = testEnvironment().temporalAddress;
    const temporal = { connectionOptions: { address }, namespace: 'default' };
    const child = await createApiProcess({ ...app.config, DATABASE_URL: database.url }, temporal);
    child.start();
    await eventually(async () => (await fetch(`${child.url}/ready`)).ok);
    const release = await holdContact();
    const interrupted = track(callsTo(child.url, app.keys)).catch(() => undefined);
    await untilBlocked(app.em);
    await child.kill();
    await interrupted;
    await release();
    await eventually(async () => (await track()).status === 200, 10_000);
    expect(await eventCount()).toBe(1);
  });
});
