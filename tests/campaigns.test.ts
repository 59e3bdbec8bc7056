import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

async function createContacts(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await stack.api('POST', '/contacts', { body: { email: `c${i}@mail.test`, data: { firstName: `N${i}` } } });
  }
}

describe('a campaign', () => {
  it('reaches every subscribed contact once, personally, and is SENT', async () => {
    await createContacts(30);
    await stack.api('POST', '/contacts', { body: { email: 'gone@mail.test', subscribed: false } });
    const { body: created } = await stack.api('POST', '/campaigns', {
      body: { name: 'Launch', subject: 'Hi {{firstName}}', body: '<p>Dear {{firstName}}</p>', from: 'news@example.com', audienceType: 'ALL' },
    });
    const sent = await stack.api('POST', `/campaigns/${created.data.id}/send`, { body: {} });
    expect(sent.body).toMatchObject({ success: true, data: { status: 'SENDING' }, message: 'Campaign is being sent' });

    const campaign = await eventually(async () => {
      const { body } = await stack.api('GET', `/campaigns/${created.data.id}`);
      return body.status === 'SENT' && body;
    });
    expect(campaign).toMatchObject({ totalRecipients: 30, sentCount: 30, bouncedCount: 0, sentAt: expect.any(String) });
    const counts = stack.sink.recipientCounts();
    expect(counts.size).toBe(30);
    expect([...counts.values()].every((count) => count === 1)).toBe(true);
  });
});
