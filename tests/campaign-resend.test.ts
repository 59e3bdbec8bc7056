import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { campaignContent } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const REFUSAL = { code: 552, text: '5.3.4 Message too big', stage: 'data' } as const;
const RECIPIENTS = ['ada@one.test', 'bob@two.test', 'eve@three.test'];
const REFUSED = 'eve@three.test';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ config: { DELIVERY_RETRY_SECONDS: [0.5], DELIVERY_PAUSE_SECONDS: 0.5 } });
  for (const email of RECIPIENTS) await stack.api('POST', '/contacts', { body: { email, subscribed: true } });
});
afterAll(() => stack.stop());

const read = async (id: string) => (await stack.api('GET', `/campaigns/${id}`)).body;
const untilSent = (id: string) =>
  eventually(async () => {
    const campaign = await read(id);
    return campaign.status === 'SENT' && campaign;
  }, 90_000);

describe('a campaign that is sent again to those who failed', () => {
  it('can be sent again right after it has ended, twice', async () => {
    stack.sink.replyTo(REFUSED, REFUSAL);
    const { body } = await stack.api('POST', '/campaigns', { body: campaignContent() });
    const id: string = body.data.id;
    await stack.api('POST', `/campaigns/${id}/send`, { body: {} });
    for (let round = 0; round < 2; round++) {
      await untilSent(id);
      expect((await stack.api('GET', `/campaigns/${id}/stats`)).body.failedCount).toBe(1);
      // The workflow of the earlier resend may not have ended yet.
      expect((await stack.api('POST', `/campaigns/${id}/resend`, { body: { states: ['FAILED'] } })).status).toBe(200);
    }
    await untilSent(id);
    expect(stack.sink.recipientCounts().get(REFUSED)).toBeUndefined();
  }, 120_000);
});
