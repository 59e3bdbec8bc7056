import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { TASK_QUEUES } from '../shared/pure/task-queues.ts';

/** The time after which Temporal notices a killed worker. Activities send several heartbeats within it. */
export const HEARTBEAT_TIMEOUT = '10 seconds';

/**
 * Activities with short statements, on the task queue of their workflow: decisions do not wait for long database work.
 * They are retried while PostgreSQL cannot serve. A lock may make each statement wait, so only heartbeats tell that a
 * worker is lost.
 */
export const database = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** Activities with long database work in chunks. */
export const bulk = proxyActivities<Activities>({
  taskQueue: TASK_QUEUES.jobs,
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '60 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * Activities with long database work that somebody waits for: after a lost worker they continue soon from the last
 * committed chunk, and they also send heartbeats during a chunk.
 */
export const chunked = proxyActivities<Activities>({
  taskQueue: TASK_QUEUES.jobs,
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * An attempt with results that PostgreSQL cannot take keeps its emails until it can, because another attempt would send
 * them again. Stalled and lost attempts end much sooner.
 */
const SMTP_OPTIONS = {
  startToCloseTimeout: '14 days',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

/**
 * Activities that send transactional email, email of automations, or email of campaigns. Each kind has separate slots,
 * so none delays another. The activities decide how long they wait for an outage to end.
 */
export const transactionalDelivery = proxyActivities<Activities>({
  ...SMTP_OPTIONS,
  taskQueue: TASK_QUEUES.transactional,
});
export const automationDelivery = proxyActivities<Activities>({ ...SMTP_OPTIONS, taskQueue: TASK_QUEUES.automations });
export const campaignDelivery = proxyActivities<Activities>({ ...SMTP_OPTIONS, taskQueue: TASK_QUEUES.campaigns });

/** Activities with the steps of an execution, on the task queue of its workflow. A lost worker is noticed soon. */
export const steps = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * The same as local activities, which saves Temporal five events and two task dispatches. The limits together are below
 * the 10 seconds of a workflow task, so the task is never extended and a lost worker is noticed at its timeout. Steps
 * that are slow or fail are left to `steps`, where operators see the attempts.
 */
export const stepsInTask = proxyLocalActivities<Activities>({
  scheduleToStartTimeout: '2 seconds',
  startToCloseTimeout: '4 seconds',
  retry: { maximumAttempts: 1 },
});

/** Activities that call the webhook of a step. The activity itself limits the repetitions. */
export const webhooks = proxyActivities<Activities>({
  taskQueue: TASK_QUEUES.webhooks,
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { initialInterval: '1 second', backoffCoefficient: 3, maximumInterval: '1 hour' },
});

const EVENT_WEBHOOK_OPTIONS = {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
} as const;

/**
 * Activities that send events to a webhook endpoint, one turn at a time. An event that the endpoint refuses does not
 * fail the activity.
 */
export const eventWebhooks = proxyActivities<Activities>({
  ...EVENT_WEBHOOK_OPTIONS,
  taskQueue: TASK_QUEUES.eventWebhooks,
});
/** The same with separate slots for endpoints that hang or fail: they delay each other, but no other endpoint. */
export const slowEventWebhooks = proxyActivities<Activities>({
  ...EVENT_WEBHOOK_OPTIONS,
  taskQueue: TASK_QUEUES.slowEventWebhooks,
});
