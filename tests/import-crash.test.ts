import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { uploadContacts } from './support/csv-files.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const ROWS = 50_000;

let stack: TestStack;
let worker: WorkerProcess | undefined;
beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false });
});
afterAll(async () => {
  await worker?.kill();
  await stack.stop();
});

/**
 * Row `i` has address `i`, with two exceptions: every 50th row has no address, and every 10th repeats the address of
 * the row before. The first 10,000 addresses already have a contact, and every second of these is not subscribed. Each
 * row subscribes its contact.
 */
function csvFile(): string {
  const lines = ['email,subscribed,row,plan'];
  for (let i = 0; i < ROWS; i++) {
    const email = i % 50 === 0 ? 'nobody' : `c${i % 10 === 5 ? i - 1 : i}@x.test`;
    lines.push(`${email},true,${i},pro`);
  }
  return lines.join('\n');
}

async function createExisting(): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${stack.project.id}, 'c' || i || '@x.test', i % 2 = 0, '{"keep":true,"plan":"free"}', now(), now()
      from generate_series(0, 9999) i`,
  );
}

async function positionOf(jobId: string): Promise<number> {
  return (await queryOne(stack.em(), sql`select position from job where id = ${jobId}`))?.position ?? 0;
}

/** Kills the worker after it has done something, and before it has done everything. */
async function killInTheMiddle(jobId: string): Promise<number> {
  const before = await positionOf(jobId);
  worker = startWorkerProcess(stack.config, stack.temporal);
  const deadline = Date.now() + 60_000;
  while ((await positionOf(jobId)) === before) {
    if (Date.now() > deadline) throw new Error('the worker does nothing');
  }
  await worker.kill();
  const reached = await positionOf(jobId);
  expect(reached).toBeGreaterThan(before);
  expect(reached).toBeLessThan(ROWS);
  return reached;
}

describe('a worker that is killed twice during an import of 50,000 rows', () => {
  it('leaves exactly the right contacts, counts and events', async () => {
    await createExisting();
    const jobId = await uploadContacts(stack, csvFile());
    const first = await killInTheMiddle(jobId);
    const polled = await stack.api('GET', `/contacts/import/${jobId}`);
    expect(polled.body).toMatchObject({ state: 'active', progress: Math.floor((100 * first) / ROWS), result: null });
    await killInTheMiddle(jobId);
    worker = startWorkerProcess(stack.config, stack.temporal);
    const job = await eventually(async () => {
      const { body } = await stack.api('GET', `/contacts/import/${jobId}`);
      return body.state === 'completed' && body;
    }, 60_000);

    const rows = Array.from({ length: ROWS }, (_, i) => i).filter((i) => i % 50 !== 0);
    const addresses = new Set(rows.map((i) => (i % 10 === 5 ? i - 1 : i)));
    const existing = [...addresses].filter((i) => i < 10_000);
    const createdCount = addresses.size - existing.length;
    expect(job).toMatchObject({ progress: 100, failedReason: null });
    expect(job.result).toMatchObject({
      totalRows: ROWS,
      createdCount,
      updatedCount: rows.length - createdCount,
      failureCount: ROWS / 50,
    });
    expect(job.result.errors).toHaveLength(100);
    expect(job.result.errors[1]).toEqual({ row: 52, email: 'nobody', error: expect.any(String) });

    const contacts = await queryOne(
      stack.em(),
      sql`
        select count(*) as total, count(*) filter (where subscribed) as subscribed,
          count(*) filter (where data ->> 'keep' = 'true') as kept,
          count(*) filter (where data ->> 'plan' = 'pro' and (data -> 'row')::int - substring(email from '\\d+')::int
            = case when substring(email from '\\d+')::int % 10 = 4 then 1 else 0 end) as imported
        from contact where project_id = ${stack.project.id}`,
    );
    // The 200 contacts without a row stay as they were, half of them not subscribed; so do those of skipped rows.
    const untouched = 10_000 - existing.length;
    const untouchedUnsubscribed = Array.from({ length: 10_000 }, (_, i) => i).filter(
      (i) => !addresses.has(i) && i % 2 === 1,
    );
    expect(contacts).toEqual({
      total: addresses.size + untouched,
      subscribed: addresses.size + untouched - untouchedUnsubscribed.length,
      kept: 10_000,
      imported: addresses.size,
    });
    const events = await queryOne(
      stack.em(),
      sql`
        select count(*) as total, count(distinct contact_id) as contacts from event
        where project_id = ${stack.project.id} and name = 'contact.subscribed'`,
    );
    const flips = existing.filter((i) => i % 2 === 1).length;
    expect(events).toEqual({ total: flips, contacts: flips });
  }, 180_000);
});
