/** What each task queue carries, so that slow work of one kind cannot hold up another. */
export const TASK_QUEUES = {
  /** Deciding what comes next, and the steps of executions, which follow at once. */
  orchestration: 'everpost-orchestration',
  /** Activities that hand mail to SMTP servers. */
  delivery: 'everpost-delivery',
  /** Activities on PostgreSQL: audiences, bookkeeping, imports. */
  jobs: 'everpost-jobs',
  /** Activities that call servers of others, which may take their time. */
  webhooks: 'everpost-webhooks',
} as const;
export type TaskQueueName = keyof typeof TASK_QUEUES;

/** Dispatch order where a queue has a backlog: 1 first. Temporal takes 1 to 5. */
export const PRIORITIES = { transactional: 1, automation: 2, maintenance: 3, campaign: 4, job: 5 } as const;
