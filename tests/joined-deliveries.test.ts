import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { Registry } from 'prom-client';
import { v7 as uuidV7 } from 'uuid';
import { createActivities } from '../activities/index.ts';
import { createOpenDeliveries } from '../activities/emails/open-deliveries.ts';
import { createSendingSlots } from '../shared/sending/sending-slots.ts';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { claimEmails } from '../shared/domain/emails/transactional-delivery.ts';
import { linkSignerOf } from '../shared/sending/compose/links.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { createDeliveryMetrics } from '../shared/sending/delivery-metrics.ts';
import { createSmtpPool } from '../shared/sending/transport/smtp-pool.ts';
import { TASK_QUEUES } from '../shared/pure/task-queues.ts';
import { emailDeliveryWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { quietTemporal } from './support/quiet-temporal.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

quietTemporal();

let stack: TestStack;
let addressCount = 0;
const freshEmail = () => `to-${++addressCount}@mail.test`;
beforeAll(async () => {
  // The delay gives other emails time to join.
  stack = await startTestStack({
    config: { DELIVERY_RETRY_SECONDS: [0.1, 0.1], DELIVERY_PAUSE_SECONDS: 0.5 },
    sink: { delayMs: 300 },
  });
});
afterAll(() => stack.stop());
beforeEach(() => stack.sink.clear());
afterEach(() => query(stack.em(), sql`update project set emails_per_second = null`));

async function send(to = freshEmail()): Promise<string> {
  const { body } = await stack.api('POST', '/v1/send', {
    body: { to, subject: 'Hello', body: '<p>Hi</p>', from: 'hello@example.com' },
  });
  return body.data.emails[0].email as string;
}

interface DeliveredEmail {
  status: string;
  deliveryId: string | null;
  deferrals: number;
  error: string | null;
}

const untilIn = (status: string, id: string): Promise<DeliveredEmail> =>
  eventually(async () => {
    const email = await queryOne(
      stack.em(),
      sql`select status, delivery_id as "deliveryId", deferrals, error from email where id = ${id}`,
    );
    return email?.status === status && email;
  });
const workflowOf = (deliveryId: string) =>
  stack.temporal.client.workflow.getHandle(emailDeliveryWorkflowId(deliveryId));
const receivedCounts = () => [...stack.sink.recipientCounts().values()];

/** Sends an email. @returns its delivery, once it is sending the email */
async function startDelivery(): Promise<string> {
  const { deliveryId } = await untilIn('SENDING', await send());
  if (deliveryId === null) throw new Error('no delivery has claimed the email');
  return deliveryId;
}

it('an email that is queued while a delivery of its project is under way joins it', async () => {
  const delivery = await startDelivery();
  const second = await send();
  expect((await untilIn('SENT', second)).deliveryId).toBe(delivery);
  expect(await workflowOf(delivery).result()).toEqual({ rounds: 1, emails: { SENT: 2 } });
  await expect(workflowOf(second).describe()).rejects.toThrow(/not found/);
  const third = await send();
  expect((await untilIn('SENT', third)).deliveryId).toBe(third);
  expect(receivedCounts()).toEqual([1, 1, 1]);
});

it('an email that joined a delivery is tried again by its workflow', async () => {
  const delivery = await startDelivery();
  const to = freshEmail();
  stack.sink.replyTo(to, { code: 451, stage: 'rcpt', times: 1 });
  expect(await untilIn('SENT', await send(to))).toMatchObject({ deferrals: 1, deliveryId: delivery });
  expect(await workflowOf(delivery).result()).toMatchObject({ rounds: 2 });
});

it('an email of a project that now sends at a limited speed joins no delivery', async () => {
  await startDelivery();
  await query(stack.em(), sql`update project set emails_per_second = 100 where id = ${stack.project.id}`);
  const second = await send();
  expect((await untilIn('SENT', second)).deliveryId).toBe(second);
});

it('an email joins no delivery that is being repeated, so the outage before it does not count for the email', async () => {
  await stack.sink.setUnavailable(true);
  const first = await send();
  await eventually(async () => {
    const { raw } = await workflowOf(first).describe();
    return raw.pendingActivities?.some(({ lastFailure }) => lastFailure);
  });
  await stack.sink.setUnavailable(false);
  await untilIn('SENDING', first);
  const second = await send();
  expect((await untilIn('SENT', second)).deliveryId).toBe(second);
  expect(await workflowOf(first).result()).toEqual({ rounds: 1, emails: { SENT: 1 } });
});

/** Two emails that a delivery had claimed when its attempt was lost. Its workflow knows only the first. */
async function loseAttempt(): Promise<{ first: string; second: string }> {
  await stack.stopWorkers();
  const first = await send();
  const second = await send();
  await claimEmails(stack.em(), [first, second], { deliveryId: first, claimToken: uuidV7() });
  return { first, second };
}

it('emails that joined a delivery are sent after its attempt is lost, and once', async () => {
  await stack.sink.setUnavailable(true);
  const { first, second } = await loseAttempt();
  await stack.startWorkers();
  await eventually(async () => {
    const { raw } = await workflowOf(first).describe();
    return raw.pendingActivities?.some(({ lastFailure }) => lastFailure);
  });
  await stack.sink.setUnavailable(false);
  expect((await untilIn('SENT', second)).deliveryId).toBe(first);
  expect(await workflowOf(first).result()).toEqual({ rounds: 1, emails: { SENT: 2 } });
  expect(receivedCounts()).toEqual([1, 1]);
});

it('emails that joined a delivery become FAILED with it when it is given up', async () => {
  const { first, second } = await loseAttempt();
  const { config, orm } = stack;
  const logger = createLogger({ level: 'silent', name: 'test' });
  const smtp = createSmtpPool({ urls: config.SMTP_URL, maxConnections: 1, logger });
  const activities = createActivities({
    config,
    orm,
    logger,
    smtp,
    links: linkSignerOf(config),
    temporal: stack.temporal.client,
    metrics: createDeliveryMetrics(new Registry()),
    heartbeatMs: 500,
    openDeliveries: createOpenDeliveries(),
    slots: createSendingSlots(),
  });
  const attempt = new MockActivityEnvironment({
    taskQueue: TASK_QUEUES.transactional,
    workflowExecution: { workflowId: emailDeliveryWorkflowId(first), runId: uuidV7() },
  });
  const reason = 'No SMTP server took mail for 2 days.';
  const ended = await attempt.run(() => activities.abandonEmails({ emailIds: [first], reason }));
  expect(ended).toEqual({ FAILED: 2 });
  expect((await untilIn('FAILED', second)).error).toBe(reason);
  await smtp.close();
  await stack.startWorkers();
});
