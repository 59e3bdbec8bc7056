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
])('an email to %s@ of the sandbox has its events and never reaches a server', async (name, events, subscribed) => {
  for (const address of [`${name}+label@sandbox.everpost.test`, `${name}@sandbox.in.example.com`]) {
    const contactId = await sendTo(address);
    await eventually(async () => (await eventsOf(contactId)).length >= events.length);
    expect((await eventsOf(contactId)).sort()).toEqual([...events].sort());
    expect((await stack.api('GET', `/contacts/${contactId}`)).body.subscribed).toBe(subscribed);
  }
  expect(stack.sink.messages()).toHaveLength(0);
});

it('emails of the sandbox count in every counter and rate, but not in the rates of providers', async () => {
  const { api } = await stack.createProject();
  const from = 'hello@example.com';
  const send = (to: string) =>
    api('POST', '/v1/send', { body: { to, subject: 'S', body: 'B', from, subscribed: true } });
  await send('real@mail.test');
  for (const name of ['delivered', 'bounced', 'complained']) await send(`${name}+rate@sandbox.everpost.test`);
  const stats = async () => (await api('GET', '/activity/stats')).body;
  await eventually(async () => (await stats()).totals.complaints === 1 && (await stats()).totals.sent === 3);
  const { totals, rates, complaintRates } = await stats();
  expect(totals).toMatchObject({ sent: 3, bounced: 1, complaints: 1 });
  expect(rates).toMatchObject({ bounceRate: 33.33, complaintRate: 33.33 });
  expect(complaintRates.filter((each: any) => each.provider.includes('sandbox'))).toEqual([]);

  const address = 'bounced+campaign@sandbox.in.example.com';
  await api('POST', '/contacts', { body: { email: address } });
  const audienceCondition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'email', operator: 'equals', value: address }] }],
  };
  const content = { name: 'N', subject: 'S', body: 'B', from, audienceType: 'FILTERED', audienceCondition };
  const { id } = (await api('POST', '/campaigns', { body: content })).body.data;
  await api('POST', `/campaigns/${id}/send`, { body: {} });
  await eventually(async () => (await api('GET', `/campaigns/${id}`)).body.status === 'SENT');
  const campaign = (await api('GET', `/campaigns/${id}/stats`)).body;
  expect(campaign).toMatchObject({ totalRecipients: 1, bouncedCount: 1, bounceRate: 100 });
});
