import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmailEntity, type Email } from './support/entities/email.entity.ts';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { emailDeliveryWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { reconcile, statusOf, untilHandedOver } from './support/reconcile.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

/** So long that only the test changes a deferred email. */
const RETRY_SECONDS = [3_600, 0.2];

let stack: TestStack;
let addressCount = 0;
const freshEmail = () => `to-${++addressCount}@mail.test`;
beforeAll(async () => {
  stack = await startTestStack({ canJoinDeliveries: false, config: { DELIVERY_RETRY_SECONDS: RETRY_SECONDS } });
});
afterAll(() => stack.stop());
beforeEach(() => stack.sink.clear());

async function send(to: string | string[]): Promise<string[]> {
  const { body } = await stack.api('POST', '/v1/send', {
    body: { to, subject: 'Hello', body: '<p>Hi</p>', from: 'hello@example.com' },
  });
  return body.data.emails.map((item: any) => item.email);
}

async function recordIn(id: string, status: Email['status']): Promise<Email> {
  return eventually(async () => {
    const email = await stack.em().findOneOrFail(EmailEntity, { id });
    return email.status === status && email;
  });
}

/** Sends an email that is deferred for an hour. @returns its id, and the delivery that will try it again */
async function sendDeferred(to: string): Promise<{ id: string; workflowId: string }> {
  stack.sink.replyTo(to, { code: 451, stage: 'rcpt', times: 1 });
  const [id = ''] = await send(to);
  await eventually(async () => (await stack.em().findOneOrFail(EmailEntity, { id })).deferrals === 1);
  await untilHandedOver(stack.em);
  return { id, workflowId: emailDeliveryWorkflowId(id) };
}

/** Sets the time when the emails were due back by more than an hour. */
async function makeOverdue(ids: string[]): Promise<void> {
  await query(
    stack.em(),
    sql`update email set delivery_due_at = now() - interval '2 hours' where id = any(${ids}::uuid[])`,
  );
}

async function deliveryOf(id: string): Promise<{ id: string | null; dueInSeconds: number | null }> {
  const row = await queryOne(
    stack.em(),
    sql`
      select delivery_id as id, round(extract(epoch from delivery_due_at - now()))::int as "dueInSeconds"
      from email where id = ${id}`,
  );
  return row ?? { id: null, dueInSeconds: null };
}

/** Terminates the workflow of a delivery. */
async function terminate(workflowId: string): Promise<void> {
  await stack.temporal.client.workflow.getHandle(workflowId).terminate('lost');
}

/** Queued emails that no delivery has claimed: their delivery is terminated before a worker takes it. */
async function queueUnclaimed(addresses: string[]): Promise<{ ids: string[]; workflowId: string }> {
  await stack.stopWorkers();
  const ids = await send(addresses);
  const workflowId = emailDeliveryWorkflowId(ids[0] ?? '');
  await eventually(async () => (await statusOf(stack, workflowId)) === 'RUNNING');
  await untilHandedOver(stack.em);
  return { ids, workflowId };
}

const arrivals = (addresses: string[]) => addresses.map((address) => stack.sink.recipientCounts().get(address) ?? 0);

describe('reconciliation of transactional email', () => {
  it('sends a deferred email whose delivery was terminated, and sends it once', async () => {
    const to = freshEmail();
    const { id, workflowId } = await sendDeferred(to);
    await terminate(workflowId);
    await makeOverdue([id]);

    expect(await reconcile(stack)).toMatchObject({ restarted: [workflowId] });
    await recordIn(id, 'SENT');
    expect(arrivals([to])).toEqual([1]);
    expect(await deliveryOf(id)).toMatchObject({ dueInSeconds: null });
    expect(await reconcile(stack)).toMatchObject({ restarted: [] });
  });

  it('does not touch a deferred email with an open delivery, before and after it is due', async () => {
    const to = freshEmail();
    const { id, workflowId } = await sendDeferred(to);
    expect((await deliveryOf(id)).dueInSeconds).toBeGreaterThan(3_500);
    expect(await reconcile(stack)).toMatchObject({ checked: 0, restarted: [] });
    await makeOverdue([id]);
    expect(await reconcile(stack)).toMatchObject({ checked: 1, restarted: [] });

    expect(await deliveryOf(id)).toMatchObject({ id });
    expect(await query(stack.em(), sql`select id from outbox`)).toEqual([]);
    expect(await statusOf(stack, workflowId)).toBe('RUNNING');
    expect(arrivals([to])).toEqual([0]);
    await terminate(workflowId);
    await query(stack.em(), sql`delete from email where id = ${id}`);
  });

  it('sends emails that no delivery has claimed, together in one delivery', async () => {
    const addresses = [freshEmail(), freshEmail(), freshEmail()];
    const { ids, workflowId } = await queueUnclaimed(addresses);
    await terminate(workflowId);
    await makeOverdue(ids);
    await stack.startWorkers();

    expect(await reconcile(stack)).toMatchObject({ restartedCount: 3 });
    for (const id of ids) await recordIn(id, 'SENT');
    expect(arrivals(addresses)).toEqual([1, 1, 1]);
    const deliveries = await Promise.all(ids.map(deliveryOf));
    expect(new Set(deliveries.map((delivery) => delivery.id)).size).toBe(1);
  });

  it('sends emails that were taken for lost while their delivery waited for a worker, and sends each once', async () => {
    const addresses = [freshEmail(), freshEmail(), freshEmail()];
    const { ids, workflowId } = await queueUnclaimed(addresses);
    await makeOverdue(ids);
    // The delivery of the second and the third cannot be known, so they get a new one.
    const [first, second, third] = ids;
    await stack.startWorkers(['jobs', 'orchestration']);
    expect(await reconcile(stack)).toMatchObject({
      restarted: [second, third].map((id) => emailDeliveryWorkflowId(id ?? '')),
    });
    const { id: another } = await deliveryOf(second ?? '');
    await eventually(async () => (await statusOf(stack, emailDeliveryWorkflowId(another ?? ''))) === 'RUNNING');
    await stack.stopWorkers();
    await stack.startWorkers();

    for (const id of ids) await recordIn(id, 'SENT');
    expect(await Promise.all(ids.map(deliveryOf))).toMatchObject([{ id: first }, { id: another }, { id: another }]);
    await eventually(async () => (await statusOf(stack, workflowId)) === 'COMPLETED');
    await eventually(async () => (await statusOf(stack, emailDeliveryWorkflowId(another ?? ''))) === 'COMPLETED');
    expect(arrivals(addresses)).toEqual([1, 1, 1]);
  });

  it('does not touch an email that waits for Temporal', async () => {
    const emailId = randomUUID();
    await query(
      stack.em(),
      sql`
        with queued as (
          insert into outbox (id, project_id, kind, subject_id, available_at)
          values (${randomUUID()}, ${stack.project.id}, 'email', ${emailId}, now() + interval '1 hour')
        )
        insert into email (id, project_id, to_address, subject, status, created_at, delivery_due_at)
        values (${emailId}, ${stack.project.id}, 'x@mail.test', 'x', 'PENDING', now(), now() - interval '2 hours')`,
    );
    expect(await reconcile(stack)).toMatchObject({ checked: 0 });
    await query(stack.em(), sql`delete from outbox`);
    await query(stack.em(), sql`delete from email where id = ${emailId}`);
  });

  it('sends an email without an outcome again, once its last attempt has surely ended', async () => {
    const to = freshEmail();
    const { id, workflowId } = await sendDeferred(to);
    await query(stack.em(), sql`update email set status = 'SENDING', claim_token = ${randomUUID()} where id = ${id}`);
    await terminate(workflowId);
    await makeOverdue([id]);
    // The delivery was terminated just now, and its attempt may not know this yet.
    await reconcile(stack);
    expect(await deliveryOf(id)).toMatchObject({ id });
    expect(await query(stack.em(), sql`select id from outbox`)).toEqual([]);

    // A delivery that Temporal does not know any more has ended long ago.
    await query(stack.em(), sql`update email set delivery_id = ${randomUUID()} where id = ${id}`);
    await reconcile(stack);
    await recordIn(id, 'SENT');
    expect(arrivals([to])).toEqual([1]);
  });
});
