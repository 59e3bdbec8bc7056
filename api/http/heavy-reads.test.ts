import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { startTestApi, type TestApi, type TestProject, type TestReply } from '../../tests/support/api.ts';

const POOL_SIZE = 8;
/** More requests than may run and wait. */
const REQUESTS = 40;

let database: TestDatabase;
let app: TestApi;
let other: TestProject;
beforeAll(async () => {
  database = await createTestDatabase();
  app = await startTestApi({
    database,
    databaseUrl: database.url,
    config: { DATABASE_POOL_SIZE: POOL_SIZE, API_STATEMENT_TIMEOUT_SECONDS: 60 },
  });
  other = await app.createProject();
});
afterAll(async () => {
  await app.stop();
  await database.drop();
});

const condition = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'contains', value: 'a' }] }] };

async function createSegment(owner: TestProject): Promise<string> {
  const body = { name: 'S', condition, trackMembership: true };
  return (await owner.api('POST', '/segments', { body })).body.id;
}

const track = (owner: TestProject) =>
  owner.api('POST', '/v1/track', { key: 'public', body: { email: 'ada@example.com', event: 'e' } });

describe('heavy reads of one project', () => {
  it('that all hang delay neither its other requests nor heavy reads of another project', async () => {
    const [mine, theirs] = [await createSegment(app), await createSegment(other)];
    const holder = app.em();
    await holder.begin();
    await query(holder, sql`select from segment where id = ${mine} for update`);

    const replies: TestReply[] = [];
    const hanging = Array.from({ length: REQUESTS }, async () => {
      const reply = await app.api('POST', `/segments/${mine}/compute`);
      replies.push(reply);
    });
    for (let round = 0; round < 5; round++) {
      expect((await track(app)).status).toBe(200);
      expect((await track(other)).status).toBe(200);
      expect((await other.api('GET', '/contacts')).status).toBe(200);
      expect((await other.api('POST', `/segments/${theirs}/compute`)).status).toBe(200);
    }
    // So far, only the refusals for the project that asked for too much have been answered.
    expect([...new Set(replies.map((reply) => reply.status))]).toEqual([429]);
    for (const reply of replies) {
      expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(reply.body.error.code).toBe('RATE_LIMIT_EXCEEDED');
    }
    const refused = replies.length;
    await holder.rollback();
    await Promise.all(hanging);
    expect(refused).toBeLessThan(REQUESTS);
    expect(replies.slice(refused).map((reply) => reply.status)).toEqual(Array(REQUESTS - refused).fill(200));
  });
});
