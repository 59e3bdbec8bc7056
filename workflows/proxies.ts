import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { TASK_QUEUES } from '../shared/pure/task-queues.ts';

/** A killed worker is noticed after this long. Activities heartbeat several times within it. */
const HEARTBEAT_TIMEOUT = '10 seconds';

/** Short statements on PostgreSQL. They are retried while PostgreSQL is away. */
export const database = proxyActivities<Activities>({
  taskQueue: TASK_QUEUES.jobs,
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** Long work on PostgreSQL, in chunks. */
export const bulk = proxyActivities<Activities>({
  taskQueue: TASK_QUEUES.jobs,
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '60 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * Long work on PostgreSQL that somebody waits for: it goes on from its last committed chunk soon after a worker is lost,
 * and it heartbeats while it works on a chunk, not only between two.
 */
export const chunked = proxyActivities<Activities>({
  taskQueue: TASK_QUEUES.jobs,
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const SMTP_OPTIONS = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

/**
 * Handing transactional email, that of automations, or that of campaigns to SMTP servers. Each kind has slots of its own:
 * a kind that fills its own slots delays no other. The activities decide how long an outage is waited out.
 */
export const transactionalDelivery = proxyActivities<Activities>({
  ...SMTP_OPTIONS,
  taskQueue: TASK_QUEUES.transactional,
});
export const automationDelivery = proxyActivities<Activities>({ ...SMTP_OPTIONS, taskQueue: TASK_QUEUES.automations });
export const campaignDelivery = proxyActivities<Activities>({ ...SMTP_OPTIONS, taskQueue: TASK_QUEUES.campaigns });

/** Steps of an automation's execution, on the queue of its workflow. A worker that is lost in the middle of one is noticed soon. */
export const steps = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * The same within the workflow task that decides them, which saves Temporal five events and two hand-overs. Together the
 * limits are below the 10 seconds of a workflow task, so the task is never extended: a worker that is lost is noticed
 * when it times out. What is slow or fails is left to `steps`, where operators see it and its attempts.
 */
export const stepsInTask = proxyLocalActivities<Activities>({
  scheduleToStartTimeout: '2 seconds',
  startToCloseTimeout: '4 seconds',
  retry: { maximumAttempts: 1 },
});

/** Calling a server of somebody else. The activity itself decides how often a failed attempt is repeated. */
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

/** Sending events to an endpoint, a turn at a time. An event that the endpoint refuses does not fail the activity. */
export const eventWebhooks = proxyActivities<Activities>({
  ...EVENT_WEBHOOK_OPTIONS,
  taskQueue: TASK_QUEUES.eventWebhooks,
});
/** The same in slots of their own: endpoints that hang or fail wait for one another, but delay no others. */
export const slowEventWebhooks = proxyActivities<Activities>({
  ...EVENT_WEBHOOK_OPTIONS,
  taskQueue: TASK_QUEUES.slowEventWebhooks,
});
