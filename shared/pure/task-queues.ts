/** The work of each task queue. Queues are separate, so that slow work of one kind cannot delay another. */
export const TASK_QUEUES = {
  /** Deciding what comes next. */
  orchestration: 'everpost-orchestration',
  /** Executions: deciding what comes next, and their steps, which run within the same workflow task where possible. */
  executions: 'everpost-executions',
  /** Activities that hand transactional email to SMTP servers. */
  transactional: 'everpost-transactional',
  /** Activities that hand the email of automations to SMTP servers. */
  automations: 'everpost-automations',
  /** Activities that hand the email of campaigns to SMTP servers. */
  campaigns: 'everpost-campaigns',
  /** Activities on PostgreSQL: audiences, bookkeeping, imports. */
  jobs: 'everpost-jobs',
  /** WEBHOOK steps of automations: activities that call foreign servers, which may be slow. */
  webhooks: 'everpost-webhooks',
  /** Activities that send events to webhook endpoints. */
  eventWebhooks: 'everpost-event-webhooks',
  /** The same, for endpoints that failed or were slow at the last call. */
  slowEventWebhooks: 'everpost-slow-event-webhooks',
} as const;
export type TaskQueueName = keyof typeof TASK_QUEUES;
/** The queues on which workflows run. */
export const WORKFLOW_QUEUES = [TASK_QUEUES.orchestration, TASK_QUEUES.executions] as const;

/** Dispatch order where a queue has a backlog: 1 first. Temporal takes 1 to 5. */
export const PRIORITIES = { transactional: 1, automation: 2, maintenance: 3, campaign: 4, job: 5 } as const;
