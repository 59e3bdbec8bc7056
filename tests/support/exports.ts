import { sql } from '../../shared/database/sql.ts';
import type { TestApi, TestProject } from './api.ts';
import { query } from './rows.ts';

/** Reads the file of an export to its end. @param body that of a search by POST */
export async function download(app: TestApi, owner: TestProject, path: string, body?: object) {
  const reply = await fetch(`${app.url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${owner.keys.secretKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { reply, text: await reply.text() };
}

/** The objects of a file of JSON lines. */
export const linesOf = (text: string): any[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Stores contacts of which every other one is subscribed. @param data of number `n` */
export async function addContacts(
  app: TestApi,
  owner: TestProject,
  count: number,
  data = sql`jsonb_build_object('n', n)`,
): Promise<void> {
  await query(
    app.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select gen_random_uuid(), ${owner.project.id}, 'reader' || n || '@example.com', n % 2 = 0, ${data}, now(), now()
      from generate_series(1, ${count}::int) n`,
  );
}
