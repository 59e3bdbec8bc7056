import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import type { TestProject } from './support/api.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const RECIPIENTS = 2_000;
const CONNECTIONS = 10;
/**
 * Emails that may be sent twice after one kill: those that are being sent, and for each open page those that wait to be
 * recorded or are being recorded (see `createResultBuffer`; four pages, 128 results each).
 */
const WINDOW_PER_KILL = CONNECTIONS + 4 * 2 * 128;

let stack: TestStack;
let worker: WorkerProcess | undefined;
beforeAll(async () => {
  stack = await startTestStack({
    hasWorkers: false,
    config: { SMTP_CONNECTIONS: CONNECTIONS },
    sink: { delayMs: 5, keepMessages: false },
  });
});
afterAll(async () => {
  await worker?.kill();
  await stack.stop();
});

async function createAudience({ project }: TestProject = stack, count = RECIPIENTS): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${project.id}, 'reader' || n || '@mail.test', true,
        jsonb_build_object('firstName', 'Reader ' || n), now(), now()
      from generate_series(1, ${count}::int) n`,
  );
}

async function startCampaign({ api }: TestProject = stack): Promise<string> {
  const { body } = await api('POST', '/campaigns', {
    body: {
      name: 'Crash test',
      subject: 'Hello {{firstName}}',
      body: '<p>Dear {{firstName}}</p>',
      from: 'news@example.com',
      audienceType: 'ALL',
    },
  });
  await api('POST', `/campaigns/${body.data.id}/send`, { body: {} });
  return body.data.id as string;
}

async function untilReceived(count: number): Promise<void> {
  await eventually(() => Promise.resolve(stack.sink.messageCount() >= count), 60_000);
}

describe('a worker that is killed twice while it sends a campaign', () => {
  it('leaves out no recipient, and repeats no more emails than the stated number', async () => {
    await createAudience();
    worker = startWorkerProcess(stack.config, stack.temporal);
    const campaignId = await startCampaign();
    for (const share of [0.25, 0.6]) {
      await untilReceived(RECIPIENTS * share);
      await worker.kill();
      worker = startWorkerProcess(stack.config, stack.temporal);
    }
    const campaign = await eventually(async () => {
      const { body } = await stack.api('GET', `/campaigns/${campaignId}`);
      return body.status === 'SENT' && body;
    }, 90_000);

    const counts = stack.sink.recipientCounts();
    const duplicates = [...counts.values()].reduce((sum, count) => sum + count - 1, 0);
    expect(counts.size).toBe(RECIPIENTS);
    expect(campaign).toMatchObject({ totalRecipients: RECIPIENTS, sentCount: RECIPIENTS, bouncedCount: 0 });
    expect(duplicates).toBeLessThanOrEqual(2 * WINDOW_PER_KILL);
    process.stderr.write(`worker killed twice: ${duplicates} of ${RECIPIENTS} mails were sent twice\n`);
  }, 120_000);

  it('finishes the messages being sent when it is told to stop, and repeats none', async () => {
    stack.sink.clear();
    const campaignId = await startCampaign();
    await untilReceived(RECIPIENTS * 0.3);
    expect(await worker?.terminate()).toBe(0);
    worker = startWorkerProcess(stack.config, stack.temporal);
    await eventually(async () => {
      const { body } = await stack.api('GET', `/campaigns/${campaignId}`);
      return body.status === 'SENT';
    }, 60_000);
    const counts = stack.sink.recipientCounts();
    expect(counts.size).toBe(RECIPIENTS);
    expect([...counts.values()].every((count) => count === 1)).toBe(true);
  }, 120_000);
});

describe('a worker that is killed while it stores an audience', () => {
  it('is soon followed by one that stores the rest', async () => {
    const owner = await stack.createProject();
    // At a low speed the audience is stored slowly.
    await query(stack.em(), sql`update project set emails_per_second = 1 where id = ${owner.project.id}`);
    await createAudience(owner, 20_000);
    worker ??= startWorkerProcess(stack.config, stack.temporal);
    const campaignId = await startCampaign(owner);
    const stored = () =>
      queryOne(
        stack.em(),
        sql`select total_recipients as total, audience_frozen as "isAll" from campaign where id = ${campaignId}`,
      );
    await eventually(async () => ((await stored())?.total ?? 0) > 2_000, 30_000);
    await worker.kill();
    expect(await stored()).toMatchObject({ isAll: false });
    worker = startWorkerProcess(stack.config, stack.temporal);
    await eventually(async () => (await stored())?.isAll, 40_000);
    expect(await stored()).toMatchObject({ total: 20_000 });
  }, 90_000);
});
