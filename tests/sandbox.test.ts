import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({
    config: { INBOUND_DOMAIN: 'in.example.com', DELIVERY_RETRY_SECONDS: [0.3, 0.3] },
  });
});
afterAll(() => stack.stop());

async function sendTo(address: string): Promise<string> {
  const { body } = await stack.api('POST', '/v1/send', {
    body: { to: address, subject: 'Hello', body: '<p>Hello</p>', from: 'hello@example.com', subscribed: true },
  });
  return body.data.emails[0].contact.id;
}

async function eventsOf(contactId: string): Promise<string[]> {
  const { body } = await stack.api('GET', `/events/contact/${contactId}`);
  return body.events.map((event: any) => event.name).reverse();
}

it.each([
  ['delivered', ['email.sent', 'email.delivery'], true],
  ['deferred', ['email.sent', 'email.delivery'], true],
  ['bounced', ['email.bounce', 'contact.unsubscribed'], false],
  ['soft-bounced', ['email.sent', 'email.bounce'], true],
  ['complained', ['email.sent', 'email.delivery', 'email.complaint', 'contact.unsubscribed'], false],
  ['suppressed', ['email.suppressed'], true],
  ['unsubscribed', ['email.sent', 'email.delivery', 'contact.unsubscribed'], false],
])('an email to %s@ of the sandbox has its events and never meets a server', async (name, events, subscribed) => {
  for (const address of [`${name}+label@sandbox.everpost.test`, `${name}@sandbox.in.example.com`]) {
    const contactId = await sendTo(address);
    await eventually(async () => (await eventsOf(contactId)).length >= events.length);
    expect((await eventsOf(contactId)).sort()).toEqual([...events].sort());
    expect((await stack.api('GET', `/contacts/${contactId}`)).body.subscribed).toBe(subscribed);
  }
  expect(stack.sink.messages()).toHaveLength(0);
});
