import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { addReaders, sendToAll, type SentCampaign } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const RECIPIENTS = 1_200;
const BLOCKED = { code: 554, text: '5.7.1 Your address is on a blocklist', stage: 'rcpt' } as const;
const FORGETFUL = { code: 550, text: '5.1.1 No such user here', stage: 'rcpt' } as const;

let stack: TestStack;
let attempts: string[] = [];
let workers: WorkerProcess[] = [];
beforeAll(async () => {
  stack = await startTestStack({
    hasWorkers: false,
    config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 },
    sink: { keepMessages: false, onRecipient: (address) => attempts.push(address) },
  });
  workers = [1, 2].map(() => startWorkerProcess(stack.config, stack.temporal));
});
afterEach(() => {
  attempts = [];
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await stack.stop();
});

const addressOf = (domain: string, n: number) => `reader${n}@${domain}`;
const attemptsAt = (domain: string) => attempts.filter((address) => address.endsWith(`@${domain}`)).length;
const countOf = async (condition: ReturnType<typeof sql>) =>
  (await query(stack.em(), sql`select from email where ${condition}`)).length;

/** A campaign to the same number of recipients at each domain, the domains in turns. */
async function startCampaign(domains: string[]): Promise<SentCampaign> {
  const project = await stack.createProject();
  for (const domain of domains) await addReaders(stack.em(), project.project.id, RECIPIENTS, domain);
  return sendToAll(project);
}

async function deliver(to: string): Promise<void> {
  const body = { to, from: 'hello@example.com', subject: 'Your code', body: '<p>1234</p>' };
  expect((await stack.api('POST', '/v1/send', { body })).status).toBe(200);
}

describe('a provider that refuses our address', () => {
  it('gets no email from any worker, the campaign says why it waits, and all is sent when the provider accepts again', async () => {
    for (let n = 1; n <= RECIPIENTS; n++) stack.sink.replyTo(addressOf('blocking.test', n), BLOCKED);
    const campaign = await startCampaign(['blocking.test', 'taking.test']);

    await eventually(async () => (await campaign.read()).waiting?.provider === 'blocking.test', 30_000);
    await eventually(async () => stack.sink.messageCount() === RECIPIENTS, 30_000);
    expect((await campaign.read()).status).toBe('SENDING');
    expect(attemptsAt('blocking.test')).toBeLessThan(RECIPIENTS / 2);
    const triedOnce = await countOf(sql`campaign_id = ${campaign.id} and deferrals > 0`);
    expect(triedOnce).toBeLessThan(RECIPIENTS / 2);

    stack.sink.clear();
    await deliver('code@blocking.test');
    await eventually(async () => (await campaign.read()).status === 'SENT', 120_000);
    await eventually(async () => stack.sink.recipientCounts().has('code@blocking.test'), 60_000);
    expect(stack.sink.messageCount()).toBe(RECIPIENTS + 1);
    expect(await campaign.read()).toMatchObject({ sentCount: 2 * RECIPIENTS, waiting: null });
    expect(await query(stack.em(), sql`select from contact where not subscribed and email like 'reader%'`)).toEqual([]);
    expect(await query(stack.em(), sql`select from suppression`)).toEqual([]);
  }, 200_000);
});

describe('a provider that calls all of its addresses unknown for a while', () => {
  it('unsubscribes only the contacts of the first refusals, and the others get their email', async () => {
    stack.sink.clear();
    for (let n = 1; n <= RECIPIENTS; n++) stack.sink.replyTo(addressOf('forgetful.test', n), FORGETFUL);
    const campaign = await startCampaign(['forgetful.test']);
    await eventually(async () => (await campaign.read()).waiting?.provider === 'forgetful.test', 30_000);
    stack.sink.clear();
    await eventually(async () => (await campaign.read()).status === 'SENT', 120_000);
    // Each worker notices at the twentieth; some more are being sent at that moment.
    const bounced = await countOf(sql`campaign_id = ${campaign.id} and status = 'BOUNCED'`);
    expect(bounced).toBeLessThanOrEqual(2 * 20);
    expect((await campaign.read()).sentCount).toBe(RECIPIENTS - bounced);
  }, 200_000);
});

describe('an address whose server always says that emails come too fast', () => {
  it('is deferred by the ordinary pauses, and costs the other emails to its provider no attempt', async () => {
    stack.sink.clear();
    const to = 'reader0@slow.test';
    stack.sink.replyTo(to, { code: 421, text: '4.7.0 You are rate limited, try later', stage: 'rcpt' });
    await deliver(to);
    const campaign = await startCampaign(['slow.test']);
    await eventually(async () => (await countOf(sql`to_address = ${to} and deferrals = 2`)) === 1, 60_000);
    expect(await countOf(sql`to_address = ${to} and held_at is null`)).toBe(1);
    // A reply 421 on a connection that was used before may be about the connection, so a fresh one is tried at once.
    expect(attempts.filter((address) => address === to).length).toBeLessThanOrEqual(2 * 2);
    await eventually(async () => (await campaign.read()).status === 'SENT', 60_000);
    expect(attemptsAt('slow.test')).toBeLessThanOrEqual(RECIPIENTS + 2 * 2);
    expect(await countOf(sql`campaign_id = ${campaign.id} and deferrals > 0`)).toBe(0);
  }, 150_000);
});
