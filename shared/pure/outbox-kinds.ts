/**
 * What must reach Temporal: deliver emails (transactional, of an automation, scheduled), start or wake a campaign, start an
 * execution, signal its event to it, cancel it, run a job, erase the deleted contacts of a project, start or wake a
 * webhook endpoint, start or wake what waits for a
 * confirmation, let held mail ask again. `shared/domain/work/outbox-work.ts` says how.
 */
export const OUTBOX_KINDS = [
  'email',
  'automationEmail',
  'scheduledEmail',
  'campaign',
  'execution',
  'executionEvent',
  'executionCancel',
  'job',
  'erasure',
  'webhook',
  'optIn',
  'heldMail',
] as const;
export type OutboxKind = (typeof OUTBOX_KINDS)[number];
