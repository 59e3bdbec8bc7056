import { afterAll, beforeAll, it } from '@jest/globals';
import { campaignWorkflowId, deliveryIdOf, emailDeliveryWorkflowId } from '../../shared/pure/workflow-contracts.ts';
import { storeHistory } from '../support/histories.ts';
import { eventually, startTestStack, type TestStack } from '../support/stack.ts';

const RECIPIENTS = 5;
/** The first pause after a deferral is ten seconds. */
const DEFERRED_MS = 40_000;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  for (let i = 0; i < RECIPIENTS; i++) {
    await stack.api('POST', '/contacts', { body: { email: `reader${i}@mail.test`, data: { firstName: `N${i}` } } });
  }
});
afterAll(() => stack.stop());

async function createCampaign(): Promise<string> {
  const { body } = await stack.api('POST', '/campaigns', {
    body: {
      name: 'News',
      subject: 'Hi {{firstName}}',
      body: '<p>News</p>',
      from: 'news@example.com',
      audienceType: 'ALL',
    },
  });
  return body.data.id as string;
}

async function untilClosed(workflowId: string): Promise<void> {
  await stack.temporal.client.workflow.getHandle(workflowId).result();
}

async function recordCampaign(name: string, act: (campaignId: string) => Promise<unknown>): Promise<void> {
  const campaignId = await createCampaign();
  await act(campaignId);
  const workflowId = campaignWorkflowId(campaignId);
  await eventually(async () => {
    const found = await stack.temporal.client.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => undefined);
    return found !== undefined;
  });
  await untilClosed(workflowId);
  await storeHistory(stack.temporal.client, workflowId, `campaign.${name}`);
}

const inFuture = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

it(
  'records campaigns',
  async () => {
    await recordCampaign('sent-at-once', (id) => stack.api('POST', `/campaigns/${id}/send`, { body: {} }));
    await recordCampaign('scheduled-again', async (id) => {
      await stack.api('POST', `/campaigns/${id}/send`, { body: { scheduledFor: inFuture(3600) } });
      await stack.api('POST', `/campaigns/${id}/send`, { body: { scheduledFor: inFuture(2) } });
    });
    await recordCampaign('cancelled-while-scheduled', async (id) => {
      await stack.api('POST', `/campaigns/${id}/send`, { body: { scheduledFor: inFuture(3600) } });
      await stack.api('POST', `/campaigns/${id}/cancel`);
    });
    stack.sink.replyTo('reader3@mail.test', { code: 451, stage: 'rcpt', times: 1 });
    await recordCampaign('deferred', (id) => stack.api('POST', `/campaigns/${id}/send`, { body: {} }));
  },
  DEFERRED_MS,
);

it(
  'records deliveries',
  async () => {
    const send = async (to: string, scheduledAt?: string) => {
      const { body } = await stack.api('POST', '/v1/send', {
        body: { to, from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>', scheduledAt },
      });
      return emailDeliveryWorkflowId(body.data.emails[0].email as string);
    };
    const record = async (workflowId: string, name: string, type = 'emailDelivery') => {
      await eventually(() =>
        stack.temporal.client.workflow
          .getHandle(workflowId)
          .describe()
          .then(Boolean, () => false),
      );
      await untilClosed(workflowId);
      await storeHistory(stack.temporal.client, workflowId, `${type}.${name}`);
    };
    await record(await send('one@mail.test'), 'sent');
    const scheduledId = await send('later@mail.test', inFuture(3600));
    const emailId = deliveryIdOf(scheduledId);
    await stack.api('PATCH', `/emails/${emailId}`, { body: { scheduledAt: inFuture(2) } });
    await record(scheduledId, 'scheduled', 'scheduledEmail');
    stack.sink.replyTo('slow@mail.test', { code: 451, stage: 'rcpt', times: 1 });
    await record(await send('slow@mail.test'), 'deferred');
  },
  DEFERRED_MS,
);
