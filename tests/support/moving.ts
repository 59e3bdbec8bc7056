import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import type { TestProject } from './api.ts';
import { runCommand } from './cli.ts';
import { query } from './rows.ts';
import { startTestStack, type TestStack } from './stack.ts';

export const KEY = 'key-of-another-tool';

/** The stack and the folder of files of a test file about moving here from other tools. */
export let stack: TestStack;
export let folder: string;

/** Starts them before the tests, and ends them afterwards. */
export function useMoving(): void {
  beforeAll(async () => {
    stack = await startTestStack();
    folder = await mkdtemp(path.join(tmpdir(), 'moving-'));
  }, 60_000);
  afterAll(async () => {
    await stack.stop();
    await rm(folder, { recursive: true });
  });
}

export async function fileOf(name: string, content: string | Buffer): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, content);
  return file;
}

/** Runs `everpost import`, and reads what it answers. */
export async function run(owner: TestProject, tool: string, ...args: string[]): Promise<any> {
  const words = ['import', tool, ...args, '--project', owner.project.id, '--json'];
  const { exitCode, out, error } = await runCommand(words, {
    DATABASE_URL: stack.database.url,
    EVERPOST_IMPORT_KEY: KEY,
  });
  expect(`${out}${error}`).not.toContain(KEY);
  return exitCode === 0 ? { ...JSON.parse(out), noted: error } : { failure: error };
}

/** All that there is of the contacts of a project, by address. */
export async function stateOf(owner: TestProject): Promise<Record<string, any>> {
  const rows = await query(
    stack.em(),
    sql`
      select c.email, c.subscribed, c.data, c.updated_at as "updatedAt", c.opted_out_at is not null as "hasLeft",
        (select s.reason from suppression s where s.project_id = c.project_id and s.email = c.email) as suppressed,
        (select jsonb_object_agg(t.key, s.subscribed) from topic_subscription s join topic t on t.id = s.topic_id
          where s.contact_id = c.id) as topics,
        (select jsonb_agg(r.details - 'jobId' || jsonb_build_object('state', r.state, 'cause', r.cause) order by r.id)
          from consent_record r where r.contact_id = c.id and r.topic_id is null) as consents,
        (select count(*)::int from event e where e.contact_id = c.id) as events
      from contact c where c.project_id = ${owner.project.id}`,
  );
  return Object.fromEntries(rows.map(({ email, ...row }: any) => [email, row]));
}

/** Imports twice, with somebody who leaves in between, and expects the second time to change nothing. */
export async function importTwice(owner: TestProject, leaver: string, tool: string, ...args: string[]) {
  const checked = await run(owner, tool, ...args, '--dry-run');
  expect(await stateOf(owner)).toEqual({});
  const result = await run(owner, tool, ...args);
  expect(checked).toMatchObject({
    rows: result.rows,
    leftCounts: result.leftCounts,
    createdTopics: result.createdTopics,
  });
  const [contact] = (await owner.api('GET', `/contacts?search=${leaver}`)).body.data;
  expect(contact.subscribed).toBe(true);
  await owner.api('PATCH', `/contacts/${contact.id}`, { body: { subscribed: false } });
  const before = await stateOf(owner);
  expect(await run(owner, tool, ...args)).toMatchObject({ createdCount: 0, createdTopics: [] });
  expect(await stateOf(owner)).toEqual(before);
  return { result, state: before };
}

/** The consents of somebody who left elsewhere. */
export const gone = (because: string, leftAt?: string) => [
  { state: 'unsubscribed', cause: 'import', because, ...(leftAt && { leftAt }) },
];
