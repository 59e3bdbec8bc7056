import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../shared/domain/database/sql.ts';
import { LIMITS } from '../shared/pure/limits.ts';
import { startTestApi, type TestApi, type TestReply } from './support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
});
afterAll(() => app.stop());

function expectTooBig(reply: TestReply, field: string): void {
  expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
  expect(reply.body.error.errors).toEqual([expect.objectContaining({ field, code: 'too_big' })]);
}

describe('a project', () => {
  it('has 100 sender domains; the next is refused by its field', async () => {
    const [domains] = await query<{ count: number }>(
      app.em(),
      sql`select count(*) from sender_domain where project_id = ${app.project.id}`,
    );
    await query(
      app.em(),
      sql`
        insert into sender_domain (id, project_id, domain, created_at, updated_at)
        select everpost_uuid_v7(), ${app.project.id}, i || '.example', now(), now()
        from generate_series(1, ${LIMITS.senderDomainsPerProject - 1 - (domains?.count ?? 0)}::int) i`,
    );
    const add = (domain: string) => app.api('POST', '/domains', { body: { domain } });
    expect((await add('last.example')).status).toBe(201);
    expectTooBig(await add('beyond.example'), 'domain');
    expect((await add('last.example')).status).toBe(409);
  });
});
