import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import { createTestDatabase, untilBlocked, type TestDatabase } from '../../tests/support/database.ts';
import { startTestApi, type TestApi, type TestReply } from '../../tests/support/api.ts';
import { startTcpProxy, type TcpProxy } from '../../tests/support/tcp-proxy.ts';

const POOL_SIZE = 4;
/** Requests of one project that may run at a time. */
const SLOTS = 3;

let database: TestDatabase;
let proxy: TcpProxy;
let app: TestApi;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.url);
  app = await startTestApi({ database, databaseUrl: proxy.url, config: { DATABASE_POOL_SIZE: POOL_SIZE } });
});
afterAll(async () => {
  await app.stop();
  await proxy.close();
  await database.drop();
});

function track(event: string): Promise<TestReply> {
  return app.api('POST', '/v1/track', { key: 'public', body: { email: 'ada@example.com', event, subscribed: true } });
}

function expectUnavailable(reply: TestReply): void {
  expect(reply.status).toBe(503);
  expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(reply.body.error).toEqual({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.any(String),
    statusCode: 503,
    requestId: reply.headers.get('x-request-id'),
    suggestion: 'See /docs/errors/SERVICE_UNAVAILABLE',
  });
}

describe('the API without PostgreSQL', () => {
  it('answers 503, stays alive, and serves requests again when it is back', async () => {
    expect((await track('before')).status).toBe(200);
    await proxy.cut();
    for (let attempt = 0; attempt < 3; attempt++) expectUnavailable(await track('during'));
    expectUnavailable(await app.api('GET', '/contacts'));
    expect((await app.api('GET', '/health')).status).toBe(200);
    const ready = await app.api('GET', '/ready');
    expect([ready.status, ready.body]).toEqual([503, { status: 'not ready', checks: { database: 'failed' } }]);
    expect((await app.api('POST', '/contacts', { raw: '{' })).status).toBe(400);
    await proxy.restore();
    expect((await track('after')).status).toBe(200);
    expect((await app.api('GET', '/ready')).status).toBe(200);
  });

  it('answers what is under way with 503 and gets every connection of its pool back', async () => {
    // A lock holds the requests in their transactions until the connection breaks.
    const blocker = database.orm.em.fork();
    await blocker.begin();
    await query(blocker, sql`lock table event in exclusive mode`);
    const replies = Promise.all(Array.from({ length: 3 * POOL_SIZE }, () => track('interrupted')));
    await untilBlocked(() => database.orm.em.fork(), SLOTS);
    await proxy.cut();
    for (const reply of await replies) expectUnavailable(reply);
    await blocker.rollback();
    await proxy.restore();
    expect((await track('interrupted')).status).toBe(200);
  });

  it('connects again after the server has ended every session', async () => {
    expect((await track('idle')).status).toBe(200);
    await query(
      database.orm.em.fork(),
      sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'everpost-test-api'`,
    );
    const replies = await Promise.all(Array.from({ length: 10 }, () => track('idle')));
    for (const reply of replies) expect([200, 503]).toContain(reply.status);
    expect((await track('idle')).status).toBe(200);
  });
});
