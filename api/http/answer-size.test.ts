import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { LIMITS } from '../../shared/pure/limits.ts';
import { query, sql } from '../../shared/domain/database/sql.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

it('pages of large templates get smaller, and going through them leaves none out', async () => {
  const content = { subject: 'S', from: 'me@example.com', body: 'x'.repeat(1_900_000) };
  for (let n = 0; n < 6; n++) await app.api('POST', '/templates', { body: { ...content, name: `T${n}` } });
  const names: string[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { body } = await app.api('GET', `/templates?page=${page}&pageSize=100`);
    expect([body.pageSize, body.total, body.totalPages]).toEqual([4, 6, 2]);
    expect(JSON.stringify(body).length).toBeLessThan(LIMITS.pageBytes + 10_000);
    names.push(...body.data.map(({ name }: { name: string }) => name));
    pages = body.totalPages;
  }
  expect(names.sort()).toEqual(['T0', 'T1', 'T2', 'T3', 'T4', 'T5']);
});

it('a page of events ends early, and the cursor goes on from there', async () => {
  await query(
    app.em(),
    sql`
      insert into event (id, project_id, name, data, created_at)
      select gen_random_uuid(), ${app.project.id}, 'large', jsonb_build_object('text', repeat('x', 60000)),
        now() - n * interval '1 second'
      from generate_series(1, 300) n`,
  );
  const ids = new Set<string>();
  let cursor = '';
  do {
    const { body } = await app.api('GET', `/events?limit=500&cursor=${cursor}`);
    expect(JSON.stringify(body).length).toBeLessThan(LIMITS.pageBytes + 100_000);
    for (const { id } of body.events) ids.add(id);
    cursor = body.cursor;
  } while (cursor !== '');
  expect(ids.size).toBe(300);
});
