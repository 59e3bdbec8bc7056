import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import type { TestProject } from './support/api.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const THROTTLED_CAMPAIGNS = 20;
const RECIPIENTS = 200;
const CODES = 30;
/** Far shorter than a slot that is blocked for minutes, far longer than a busy machine needs. */
const SOON_MS = 10_000;

let stack: TestStack;
let domainCount = 0;
beforeAll(async () => {
  stack = await startTestStack({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
});
afterAll(() => stack.stop());

interface Sending {
  project: TestProject;
  domain: string;
  campaignId: string;
}

/** Sends a campaign of a new project at that speed; 0 is unlimited. */
async function startCampaign(emailsPerSecond: number, recipients: number): Promise<Sending> {
  const project = await stack.createProject();
  const domain = `t${++domainCount}.test`;
  await updateProject(stack.em(), project.project.id, { emailsPerSecond });
  await addReaders(stack.em(), project.project.id, recipients, domain);
  const { id } = await sendToAll(project);
  return { project, domain, campaignId: id };
}

const sentOf = ({ domain }: Sending): number =>
  [...stack.sink.recipientCounts()].filter(([address]) => address.endsWith(`@${domain}`)).length;

async function statusOf({ project, campaignId }: Sending): Promise<string> {
  return (await project.api('GET', `/campaigns/${campaignId}`)).body.status;
}

async function deliver(project: TestProject, to: string): Promise<void> {
  const reply = await project.api('POST', '/v1/send', {
    body: { to, from: 'hello@example.com', subject: 'Your code', body: '<p>1234</p>' },
  });
  expect(reply.status).toBe(200);
  await eventually(async () => stack.sink.recipientCounts().has(to), SOON_MS);
}

async function cancel({ project, campaignId }: Sending): Promise<void> {
  await project.api('POST', `/campaigns/${campaignId}/cancel`);
  await stack.temporal.client.workflow.getHandle(campaignWorkflowId(campaignId)).result();
}

describe('twenty campaigns of throttled projects', () => {
  it('delay neither the email and campaigns of others nor their own transactional email', async () => {
    const throttled = await Promise.all(
      Array.from({ length: THROTTLED_CAMPAIGNS }, () => startCampaign(1, RECIPIENTS)),
    );
    await eventually(async () => throttled.every((sending) => sentOf(sending) > 0), 60_000);

    const stranger = await stack.createProject();
    for (let n = 0; n < 5; n++) await deliver(stranger, `code-${n}@stranger.test`);
    const [first] = throttled as [Sending];
    await deliver(first.project, 'own-code@stranger.test');

    const other = await startCampaign(0, RECIPIENTS);
    await eventually(async () => (await statusOf(other)) === 'SENT', 60_000);
    expect(sentOf(other)).toBe(RECIPIENTS);
    expect(await Promise.all(throttled.map(statusOf))).toEqual(throttled.map(() => 'SENDING'));

    await Promise.all(throttled.map(cancel));
    const left = await query(stack.em(), sql`select id from email where status in ('PENDING', 'SENDING')`);
    expect(left).toEqual([]);
  }, 240_000);
});

describe('a campaign of a throttled project', () => {
  it('keeps to the speed, and its history is no longer than that of others', async () => {
    const rate = 40;
    const startedAt = Date.now();
    const sending = await startCampaign(rate, RECIPIENTS);
    await eventually(async () => (await statusOf(sending)) === 'SENT', 60_000);
    const times = stack.sink
      .messages()
      .filter((message) => message.to.some((address) => address.endsWith(`@${sending.domain}`)))
      .map((message) => message.receivedAt.getTime());
    expect(times).toHaveLength(RECIPIENTS);
    // A process that was late sends what it missed at once, so the first arrival says nothing.
    const seconds = (Math.max(...times) - startedAt) / 1_000;
    expect(seconds).toBeGreaterThan((RECIPIENTS - rate / 2) / rate - 1);

    const { historyLength } = await stack.temporal.client.workflow
      .getHandle(campaignWorkflowId(sending.campaignId))
      .describe();
    // The activities of a campaign: beginning, audience, one page, deferred email, end.
    expect(historyLength).toBeLessThan(45);
  }, 120_000);
});

describe('mail that waits for the speed of its project', () => {
  it.each([0, 100])(
    'goes at the new speed when that is set to %i a second',
    async (emailsPerSecond) => {
      const sending = await startCampaign(1, RECIPIENTS);
      const { project, domain } = sending;
      const { id } = project.project;
      await eventually(async () => sentOf(sending) > 0, 60_000);
      // As much is booked as by some thousand emails.
      const booked = sql`now() + interval '1 hour'`;
      const farAway = sql`update project_permit set next_free_at = ${booked}, urgent_free_at = ${booked} where project_id = ${id}`;
      await query(stack.em(), farAway);
      const to = Array.from({ length: CODES }, (_, n) => `code-${n}@${domain}`);
      for (const address of to) {
        const body = { to: address, from: 'hello@example.com', subject: 'S', body: 'B' };
        expect((await project.api('POST', '/v1/send', { body })).status).toBe(200);
      }
      const held = sql`
      select from project_permit where project_id = ${id} and not exists (select from outbox where project_id = ${id})
        and (holds -> 'transactional' ->> 'until')::timestamptz > now() + interval '50 minutes'
        and (holds -> 'campaign' ->> 'until')::timestamptz > now() + interval '50 minutes'`;
      await eventually(async () => (await query(stack.em(), held)).length === 1, 60_000);
      await updateProject(stack.em(), id, { emailsPerSecond });
      await eventually(async () => sentOf(sending) === RECIPIENTS + CODES, 90_000);
      await eventually(async () => (await statusOf(sending)) === 'SENT', 60_000);
      const counts = [...stack.sink.recipientCounts()].filter(([address]) => address.endsWith(`@${domain}`));
      expect(counts.filter(([, count]) => count !== 1)).toEqual([]);
    },
    240_000,
  );
});
