import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { sendToAll, type SentCampaign } from './support/campaigns.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const DOMAINS = ['one.test', 'two.test', 'three.test', 'four.test'];
const EACH = 150;
const RECIPIENTS = EACH * DOMAINS.length;
/** Emails that two workers are sending when they notice the refusals. */
const ON_THE_WIRE = 200;
const BLOCKED = { code: 554, text: '5.7.1 Your address is on a blocklist', stage: 'rcpt' } as const;

let stack: TestStack;
let other: SmtpSink;
let worker: WorkerProcess;
const attempts: number[] = [];
beforeAll(async () => {
  other = await createSmtpSink({ keepMessages: false, onRecipient: () => attempts.push(Date.now()) });
  stack = await startTestStack({
    ...{ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 }, sink: { keepMessages: false }, moreRelays: [other.url] },
  });
  worker = startWorkerProcess(stack.config, stack.temporal);
});
afterAll(async () => {
  await worker.kill();
  await stack.stop();
  await other.close();
});

async function startCampaign(): Promise<SentCampaign> {
  const project = await stack.createProject();
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${project.project.id}, 'reader' || n || '@' || (${DOMAINS}::text[])[n % 4 + 1], true, now(), now()
      from generate_series(1, ${RECIPIENTS}::int) n`,
  );
  return sendToAll(project);
}

const labelOf = ({ port }: SmtpSink) => `127.0.0.1:${port}`;

describe('one of two relays that refuses our address', () => {
  it('is avoided by all workers while the other sends, and is used again when it accepts email', async () => {
    other.replyTo('*', BLOCKED);
    const campaign = await startCampaign();
    await eventually(async () => (await campaign.read()).status === 'SENT', 120_000);
    expect(await campaign.read()).toMatchObject({ sentCount: RECIPIENTS, waiting: null });
    expect(stack.sink.messageCount()).toBe(RECIPIENTS);
    expect(attempts.length).toBeGreaterThan(0);
    expect(attempts.length).toBeLessThan(ON_THE_WIRE);
    expect(await query(stack.em(), sql`select from contact where not subscribed`)).toEqual([]);
    expect(await stack.metrics.text()).toContain(
      `everpost_providers_paused{relay="${labelOf(other)}",provider="all"} 1`,
    );

    other.clear();
    for (;;) {
      const again = await startCampaign();
      await eventually(async () => (await again.read()).status === 'SENT', 120_000);
      expect((await again.read()).sentCount).toBe(RECIPIENTS);
      if (other.messageCount() > 0) break;
    }
  }, 300_000);
});

describe('two relays that both refuse our address', () => {
  it('hold a campaign, which names them, until they accept email again', async () => {
    for (const relay of [stack.sink, other]) relay.replyTo('*', BLOCKED);
    const campaign = await startCampaign();
    const labels = new RegExp(`${labelOf(stack.sink)}, ${labelOf(other)}|${labelOf(other)}, ${labelOf(stack.sink)}`);
    await eventually(async () => labels.test((await campaign.read()).waiting?.relay), 30_000);
    expect((await campaign.read()).waiting.reason).toMatch(/refuses our emails: 554 /);
    for (const relay of [stack.sink, other]) relay.clear();
    await eventually(async () => (await campaign.read()).status === 'SENT', 150_000);
    expect((await campaign.read()).sentCount).toBe(RECIPIENTS);
    expect(await query(stack.em(), sql`select from contact where not subscribed`)).toEqual([]);
  }, 200_000);
});
