import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { LIMITS } from '../../shared/pure/limits.ts';
import { query, sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

it.each([
  ['templates', { name: 'T', subject: 'S', from: 'me@example.com' }],
  ['campaigns', { name: 'C', subject: 'S', from: 'me@example.com', audienceType: 'ALL' }],
])('a page of large %s has the size that was asked for, and is never in memory as a whole', async (path, record) => {
  const body = 'x'.repeat(1_900_000);
  for (let n = 0; n < 12; n++) {
    const created = await app.api('POST', `/${path}`, { body: { ...record, name: `N${n}`, body } });
    expect(created.status).toBe(201);
  }
  const list = async (query: string) => (await app.api('GET', `/${path}?${query}&sort=createdAt&dir=asc`)).body;
  const names = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);
  const all = await list('pageSize=100');
  expect(names(all)).toEqual(Array.from({ length: 12 }, (_, n) => `N${n}`));
  expect(all.data.map((item: { body: string }) => item.body === body)).toEqual(Array(12).fill(true));
  expect({ ...all, data: [] }).toEqual({ data: [], page: 1, pageSize: 100, total: 12, totalPages: 1 });
  const second = await list('page=2&pageSize=7');
  expect(names(second)).toEqual(['N7', 'N8', 'N9', 'N10', 'N11']);
  expect({ ...second, data: [] }).toEqual({ data: [], page: 2, pageSize: 7, total: 12, totalPages: 2 });
  expect(names(await list('page=3&pageSize=7'))).toEqual([]);
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
