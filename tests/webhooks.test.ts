import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { json, query, sql, type Em } from '../shared/database/sql.ts';
import { createAutomation, track } from './support/automations.ts';
import { startHookReceiver, type HookReceiver } from './support/hook-receiver.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const PATIENCE_MS = 30_000;

let stack: TestStack;
const receivers: HookReceiver[] = [];
beforeAll(async () => {
  stack = await startTestStack({ config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'], RETENTION_EVENTS_DAYS: 30 } });
});
afterEach(async () => {
  await query(stack.em(), sql`delete from webhook_endpoint`);
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});
afterAll(() => stack.stop());

async function subscribe(settings: object = {}): Promise<{ receiver: HookReceiver; id: string; secret: string }> {
  const receiver = await startHookReceiver();
  receivers.push(receiver);
  const { status, body } = await stack.api('POST', '/webhooks', { body: { url: receiver.url, ...settings } });
  expect(status).toBe(201);
  return { receiver, id: body.id, secret: body.secret };
}

const numbersOf = (receiver: HookReceiver, email: string): number[] =>
  receiver
    .events()
    .filter((event) => event.data.contact?.email === email)
    .map((event) => event.data.data.n);

async function trackMany(name: string, emails: string[], count: number): Promise<void> {
  for (let n = 0; n < count; n++) await Promise.all(emails.map((email) => track(stack, email, name, { n })));
}

/** Stores an event as a server does whose clock is ahead by some hours. */
async function store(em: Em, contactId: string, data: object, hours = 0): Promise<void> {
  await query(
    em,
    sql`
      insert into event (id, project_id, contact_id, name, data, created_at, recorded_at)
      values (everpost_uuid_v7(), ${stack.project.id}, ${contactId}, 'step', ${json(data)}::jsonb, now(),
        now() + ${hours}::int * interval '1 hour')`,
  );
}

describe('an endpoint', () => {
  it('gets the events that it has chosen, with signatures that the library of Standard Webhooks verifies', async () => {
    const { receiver, secret } = await subscribe({ events: ['order.*'] });
    await track(stack, 'ada@mail.test', 'other', { n: 1 });
    await track(stack, 'ada@mail.test', 'order.paid', { n: 2 });
    await eventually(async () => receiver.calls.length > 0, PATIENCE_MS);
    const [call] = receiver.calls;
    const verified = new Webhook(secret).verify(call!.text, call!.headers as Record<string, string>);
    expect(verified).toEqual({
      type: 'order.paid',
      timestamp: expect.stringMatching(/Z$/),
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        contact: { id: expect.any(String), email: 'ada@mail.test' },
        emailId: null,
        data: { n: 2 },
      },
    });
    expect(() => new Webhook(secret).verify(`${call!.text} `, call!.headers as Record<string, string>)).toThrow();
    expect(receiver.events().map((event) => event.type)).toEqual(['order.paid']);
  });

  it('gets the events of each contact in their order', async () => {
    const { receiver } = await subscribe({ events: ['step'] });
    const emails = ['a@mail.test', 'b@mail.test', 'c@mail.test'];
    await trackMany('step', emails, 12);
    await eventually(async () => receiver.events().length >= 36, PATIENCE_MS);
    for (const email of emails) expect(numbersOf(receiver, email)).toEqual([...Array(12).keys()]);
  });

  it('gets events in batches when its batchSize says so', async () => {
    const { receiver, secret } = await subscribe({ events: ['step'], batchSize: 10 });
    await trackMany('step', ['a@mail.test'], 25);
    await eventually(async () => receiver.events().length >= 25, PATIENCE_MS);
    expect(numbersOf(receiver, 'a@mail.test')).toEqual([...Array(25).keys()]);
    for (const { body, text, headers } of receiver.calls) {
      expect(body).toMatchObject({ type: 'batch', data: expect.any(Array) });
      expect(body.data.length).toBeLessThanOrEqual(10);
      new Webhook(secret).verify(text, headers as Record<string, string>);
    }
  });

  it('gets events of emails, contacts, campaigns and executions', async () => {
    const { receiver } = await subscribe();
    await createAutomation(stack, 'go', { Note: { type: 'UPDATE_CONTACT', config: { subscribed: false } } });
    await track(stack, 'eve@mail.test', 'go');
    await stack.api('POST', '/contacts', { body: { email: 'reader@mail.test' } });
    const campaign = await stack.api('POST', '/campaigns', {
      body: { name: 'C', subject: 'S', body: 'B', from: 'a@example.com', type: 'MARKETING', audienceType: 'ALL' },
    });
    await stack.api('POST', `/campaigns/${campaign.body.data?.id ?? campaign.body.id}/send`, { body: {} });
    const expected = ['go', 'workflow.started', 'contact.unsubscribed', 'workflow.completed', 'email.sent'];
    const isThere = (type: string) => receiver.events().some((event) => event.type === type);
    await eventually(async () => [...expected, 'campaign.sent'].every(isThere), PATIENCE_MS);
    const ended = receiver.events().find((event) => event.type === 'workflow.completed');
    expect(ended.data.data).toMatchObject({ executionId: ended.data.id, status: 'COMPLETED' });
  });

  it('gets a test event, which the log shows', async () => {
    const { receiver, id } = await subscribe({ events: ['never'] });
    const asked = await stack.api('POST', `/webhooks/${id}/test`);
    expect(asked.status).toBe(202);
    await eventually(async () => receiver.calls.length > 0, PATIENCE_MS);
    expect(receiver.calls[0]!.body).toMatchObject({ type: 'webhook.test' });
    const log = () => stack.api('GET', `/webhooks/${id}/deliveries`);
    await eventually(async () => (await log()).body.deliveries[0]?.status === 'DELIVERED');
    expect((await log()).body).toMatchObject({
      deliveries: [{ id: asked.body.deliveryId, type: 'webhook.test', attempts: 1, statusCode: 204, error: null }],
      hasMore: false,
    });
  });

  it('gets requests signed with both secrets for a while after a rotation', async () => {
    const { receiver, id, secret } = await subscribe({ events: ['step'] });
    const rotated = await stack.api('POST', `/webhooks/${id}/rotate-secret`);
    expect(rotated.body.secret).not.toBe(secret);
    await track(stack, 'a@mail.test', 'step');
    await eventually(async () => receiver.calls.length > 0, PATIENCE_MS);
    const { text, headers } = receiver.calls[0]!;
    for (const key of [secret, rotated.body.secret]) {
      new Webhook(key).verify(text, headers as Record<string, string>);
    }
    await query(stack.em(), sql`update webhook_endpoint set previous_secret_until = now() where id = ${id}`);
    await track(stack, 'a@mail.test', 'step');
    await eventually(async () => receiver.calls.length > 1, PATIENCE_MS);
    const last = receiver.calls.at(-1)!;
    expect(() => new Webhook(secret).verify(last.text, last.headers as Record<string, string>)).toThrow();
    new Webhook(rotated.body.secret).verify(last.text, last.headers as Record<string, string>);
  });

  it('gets all events from a given event on again, under the same ids', async () => {
    const { receiver, id } = await subscribe({ events: ['again'] });
    await trackMany('again', ['a@mail.test'], 4);
    await eventually(async () => receiver.calls.length >= 4, PATIENCE_MS);
    // The place of the endpoint moves with the record of the last delivery, and a replay only moves it back.
    const delivered = async () =>
      (await stack.api('GET', `/webhooks/${id}/deliveries?status=DELIVERED`)).body.deliveries;
    await eventually(async () => (await delivered()).length === 4, PATIENCE_MS);
    const [newest] = await delivered();
    const { body: shown } = await stack.api('GET', `/webhooks/${id}/deliveries/${newest.id}`);
    const last = receiver.calls.find(({ body }) => body.data.id === newest.eventId)!;
    // The request is built again from its event.
    expect(shown).toEqual({ ...newest, messageId: last.headers['webhook-id'], payload: last.body });
    const [, , third, fourth] = receiver.calls;
    const reply = await stack.api('POST', `/webhooks/${id}/replay`, { body: { eventId: third!.body.data.id } });
    expect([reply.status, Object.keys(reply.body)]).toEqual([202, ['from']]);
    await eventually(async () => receiver.calls.length >= 6, PATIENCE_MS);
    expect(receiver.calls.slice(4).map((call) => call.headers['webhook-id'])).toEqual(
      [third, fourth].map((call) => call!.headers['webhook-id']),
    );
  });

  it('gets the event of a transaction that commits long after later ones', async () => {
    const { receiver } = await subscribe({ events: ['step'] });
    const { body } = await stack.api('POST', '/contacts', { body: { email: 'late@mail.test' } });
    const open = stack.database.orm.em.fork();
    await open.begin();
    await store(open, body.id, { n: 1 });
    await track(stack, 'early@mail.test', 'step', { n: 2 });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await open.commit();
    await eventually(async () => receiver.events().length >= 2, PATIENCE_MS);
    expect(receiver.events().map((event) => event.data.data.n)).toEqual([1, 2]);
  });

  it('gets events while a transaction that stored none stays open', async () => {
    const { receiver } = await subscribe({ events: ['step'] });
    const open = stack.database.orm.em.fork();
    await open.begin();
    await query(open, sql`update project set updated_at = now()`);
    await query(open, sql`select from event limit 1`);
    await track(stack, 'early@mail.test', 'step');
    await eventually(async () => receiver.events().length > 0, PATIENCE_MS);
    await open.commit();
  });

  it('gets the events of each contact in their order when the clock of PostgreSQL jumps forward and back', async () => {
    const { receiver } = await subscribe({ events: ['step'] });
    const { body } = await stack.api('POST', '/contacts', { body: { email: 'jump@mail.test' } });
    for (const [n, hours] of [0, 1, -1, 0].entries()) {
      await store(stack.em(), body.id, { n }, hours);
      await eventually(async () => receiver.events().length > n, PATIENCE_MS);
    }
    expect(numbersOf(receiver, 'jump@mail.test')).toEqual([0, 1, 2, 3]);
  });
});
