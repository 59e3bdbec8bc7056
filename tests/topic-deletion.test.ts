import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTemplate, post } from './support/automations.ts';
import { campaignContent } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
  await post(stack, '/contacts', { email: 'ada@mail.test' });
});
afterAll(() => stack.stop());

it('a topic cannot be deleted while something is to be sent about it, and ended campaigns live on without it', async () => {
  const topic = { key: 'news', name: 'News', defaultSubscription: 'opt_in' };
  const { id: topicId } = await post(stack, '/topics', topic);
  const remove = async () => (await stack.api('DELETE', `/topics/${topicId}`)).status;

  const templateId = await createTemplate(stack, { type: 'MARKETING', topicId });
  expect(await remove()).toBe(409);
  await stack.api('PATCH', `/templates/${templateId}`, { body: { topicId: null } });
  const workflow = await post(stack, '/workflows', { name: 'A', eventName: 'signed_up' });
  const step = await post(stack, `/workflows/${workflow.id}/steps`, { type: 'SEND_EMAIL', config: { topicId } });
  expect(await remove()).toBe(409);
  await stack.api('DELETE', `/workflows/${workflow.id}/steps/${step.id}`);
  const content = campaignContent({ topicId, body: '<a href="{{viewUrl}}">View</a>' });
  const id: string = (await post(stack, '/campaigns', content)).data.id;
  expect(await remove()).toBe(409);

  await stack.api('POST', `/campaigns/${id}/send`, { body: {} });
  await eventually(async () => (await stack.api('GET', `/campaigns/${id}`)).body.status === 'SENT');
  expect(await remove()).toBe(204);

  const copy = await post(stack, `/campaigns/${id}/duplicate`, {});
  expect(copy).toMatchObject({ status: 'DRAFT', topicId });
  for (const [path, body] of [
    [`${copy.id}/send`, {}],
    [`${copy.id}/check`, {}],
    [`${copy.id}/test`, { email: 'ada@mail.test' }],
  ] as const) {
    const reply = await stack.api('POST', `/campaigns/${path}`, { body });
    expect([path, reply.status, reply.body.error.code]).toEqual([path, 404, 'TOPIC_NOT_FOUND']);
  }
  const [message] = await stack.sink.waitForMessages(1);
  const { html } = await message!.parsed();
  const viewUrl = /\/view\/[\w-]+/.exec(String(html))?.[0];
  expect((await fetch(`${stack.url}${viewUrl}`)).status).toBe(200);
});
