import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { track } from './support/automations.ts';
import { startHookReceiver, type HookReceiver } from './support/hook-receiver.ts';
import type { TestProject } from './support/api.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { query } from './support/rows.ts';

const PATIENCE_MS = 40_000;

let stack: TestStack;
const receivers: HookReceiver[] = [];
beforeAll(async () => {
  stack = await startTestStack({
    config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'], WEBHOOK_RETRY_SECONDS: [0.2, 0.3, 0.4] },
  });
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await stack.stop();
});

async function subscribe(project: TestProject, settings: object = {}): Promise<{ receiver: HookReceiver; id: string }> {
  const receiver = await startHookReceiver();
  receivers.push(receiver);
  const body = { url: receiver.url, events: ['step'], ...settings };
  return { receiver, id: (await project.api('POST', '/webhooks', { body })).body.id };
}

const emailOf = (call: { body: any }): string => call.body.data.contact.email;
const numberOf = (call: { body: any }): number => call.body.data.data.n;
const webhook = async (project: TestProject, id: string) => (await project.api('GET', `/webhooks/${id}`)).body;
const log = async (project: TestProject, id: string) =>
  (await project.api('GET', `/webhooks/${id}/deliveries`)).body.deliveries;

/** Stores events that an endpoint gets in one page: one that accepts nothing of a page is one that fails. */
async function inOnePage(project: TestProject, id: string, store: () => Promise<void>): Promise<void> {
  await project.api('PATCH', `/webhooks/${id}`, { body: { enabled: false } });
  await store();
  const settled = sql`
    select 1 from webhook_horizon where settled_no >= (
      select max(no) from webhook_feed where project_id = ${project.project.id})`;
  await eventually(async () => (await query(stack.em(), settled)).length > 0, PATIENCE_MS);
  expect((await project.api('PATCH', `/webhooks/${id}`, { body: { enabled: true } })).status).toBe(200);
}

describe('an endpoint that fails', () => {
  it.concurrent('gets all events when it is back, in the order of each contact, under the same ids', async () => {
    const project = await stack.createProject();
    const { receiver, id } = await subscribe(project);
    let isDown = true;
    const taken: any[] = [];
    receiver.answer((call, response) => {
      if (!isDown) taken.push(call);
      response.writeHead(isDown ? 500 : 204).end();
    });
    for (let n = 0; n < 5; n++) await track(project, 'a@mail.test', 'step', { n });
    await eventually(async () => receiver.calls.length >= 3, PATIENCE_MS);
    expect(await webhook(project, id)).toMatchObject({ status: 'failing', failingSince: expect.any(String) });
    expect((await log(project, id)).at(-1)).toMatchObject({ status: 'RETRYING', statusCode: 500 });
    isDown = false;
    await eventually(async () => taken.length >= 5, PATIENCE_MS);
    expect(taken.map(numberOf)).toEqual([0, 1, 2, 3, 4]);
    expect(taken[0].headers['webhook-id']).toBe(receiver.calls[0]!.headers['webhook-id']);
    await eventually(async () => (await webhook(project, id)).status === 'active');
  });

  it.concurrent(
    'for one contact gets the events of others at once, and later those of the contact in their order',
    async () => {
      const project = await stack.createProject();
      const { receiver, id } = await subscribe(project);
      let isRefused = true;
      const taken: any[] = [];
      receiver.answer((call, response) => {
        const isTaken = !(isRefused && emailOf(call) === 'bad@mail.test');
        if (isTaken) taken.push(call);
        response.writeHead(isTaken ? 200 : 400).end();
      });
      for (let n = 0; n < 3; n++) {
        for (const email of ['bad@mail.test', 'good@mail.test']) await track(project, email, 'step', { n });
      }
      await eventually(
        async () => taken.filter((call) => emailOf(call) === 'good@mail.test').length === 3,
        PATIENCE_MS,
      );
      isRefused = false;
      await eventually(async () => taken.length >= 6, PATIENCE_MS);
      expect(taken.filter((call) => emailOf(call) === 'bad@mail.test').map(numberOf)).toEqual([0, 1, 2]);
      await eventually(async () => (await log(project, id)).every((delivery: any) => delivery.status === 'DELIVERED'));
    },
  );

  it.concurrent(
    'for one event always gets the next event of the contact after the last attempt at that event',
    async () => {
      const project = await stack.createProject();
      const { receiver, id } = await subscribe(project);
      receiver.answer((call, response) => void response.writeHead(numberOf(call) === 0 ? 500 : 200).end());
      await inOnePage(project, id, async () => {
        await track(project, 'bad@mail.test', 'step', { n: 0 });
        await track(project, 'bad@mail.test', 'step', { n: 1 });
        await track(project, 'good@mail.test', 'step', { n: 2 });
      });
      await eventually(async () => receiver.calls.some((call) => numberOf(call) === 1), PATIENCE_MS);
      expect(receiver.calls.filter((call) => numberOf(call) === 0)).toHaveLength(4);
      await eventually(async () => (await log(project, id)).some((delivery: any) => delivery.status === 'FAILED'));
    },
  );

  it.concurrent('for days is disabled with a notice, and gets all events when it is enabled again', async () => {
    const project = await stack.createProject();
    const { receiver, id } = await subscribe(project);
    const other = await subscribe(project, { events: ['webhook.disabled'] });
    receiver.answer((_call, response) => void response.writeHead(503).end());
    await track(project, 'a@mail.test', 'step', { n: 1 });
    await eventually(async () => (await webhook(project, id)).status === 'failing', PATIENCE_MS);
    await query(
      stack.em(),
      sql`update webhook_endpoint set failing_since = now() - interval '6 days' where id = ${id}`,
    );
    await eventually(async () => (await webhook(project, id)).status === 'disabled', PATIENCE_MS);
    expect(await webhook(project, id)).toMatchObject({
      enabled: false,
      disabledReason: 'it accepted no event for 5 days',
    });
    await eventually(
      async () => other.receiver.events().some((event) => event.data.data.webhookId === id),
      PATIENCE_MS,
    );
    await track(project, 'a@mail.test', 'step', { n: 2 });
    const before = receiver.calls.length;
    receiver.answer((_call, response) => void response.writeHead(200).end());
    await project.api('PATCH', `/webhooks/${id}`, { body: { enabled: true } });
    await eventually(async () => receiver.calls.length >= before + 2, PATIENCE_MS);
    expect(receiver.calls.slice(before).map(numberOf)).toEqual([1, 2]);
  });

  it.concurrent(
    'for some events gets new events before those are given up',
    async () => {
      const project = await stack.createProject();
      const { receiver, id } = await subscribe(project);
      receiver.answer((call, response) => {
        if (emailOf(call) === 'good@mail.test') response.writeHead(200).end();
      });
      const hanging = Array.from({ length: 40 }, (_each, n) => `hanging-${n}@mail.test`);
      // The good one is first, because the first answers decide.
      await inOnePage(project, id, async () => {
        await track(project, 'good@mail.test', 'step', { n: 0 });
        await Promise.all(hanging.map((email) => track(project, email, 'step', { n: 0 })));
      });
      await eventually(
        async () => (await webhook(project, id)).status === 'active' && (await log(project, id)).length > 5,
        PATIENCE_MS,
      );
      await track(project, 'good@mail.test', 'step', { n: 1 });
      await eventually(async () => receiver.calls.some((call) => numberOf(call) === 1), PATIENCE_MS);
      expect((await log(project, id)).filter((delivery: any) => delivery.status === 'FAILED')).toEqual([]);
    },
    150_000,
  );

  it.concurrent('with 410 is disabled at once', async () => {
    const project = await stack.createProject();
    const { receiver, id } = await subscribe(project);
    receiver.answer((_call, response) => void response.writeHead(410).end());
    await track(project, 'a@mail.test', 'step', { n: 1 });
    await eventually(async () => (await webhook(project, id)).disabledReason === 'it answered 410 Gone', PATIENCE_MS);
  });

  it.concurrent('by hanging delays no other endpoint', async () => {
    const project = await stack.createProject();
    const hanging = await Promise.all(Array.from({ length: 5 }, () => subscribe(project)));
    let callsEnded = 0;
    for (const each of hanging)
      each.receiver.answer((_call, response) => void response.on('close', () => callsEnded++));
    const { receiver } = await subscribe(project);
    await track(project, 'a@mail.test', 'step', { n: 0 });
    await eventually(async () => hanging.every((each) => each.receiver.calls.length > 0), PATIENCE_MS);
    let n = 0;
    for (let round = 0; round < 3; round++) {
      // A hanging call can also time out by chance in this moment.
      await eventually(async () => {
        const before = callsEnded;
        n += 1;
        await track(project, 'a@mail.test', 'step', { n });
        await eventually(async () => receiver.calls.some((call) => numberOf(call) === n), PATIENCE_MS);
        return callsEnded === before;
      }, PATIENCE_MS);
    }
  });
});
