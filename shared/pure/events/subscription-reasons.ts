/** Why a subscription changed: `data.reason` of `contact.subscribed` and `contact.unsubscribed`. */
export const SUBSCRIPTION_REASONS = {
  hard_bounce: 'an email bounced hard',
  complaint: 'the recipient reported an email as spam',
  link: 'the recipient used the page that an email links to',
  page: 'the recipient saved the preference page that an email links to',
  one_click: "the recipient used the mail program's button to unsubscribe",
  email: 'the recipient wrote to the address for unsubscribing of an email',
  bounce_undone: 'a hard bounce was undone, with `by` when the operator did it',
  api: 'a request of the API, which `endpoint` names',
  send: '`subscribed` of a request to /v1/send',
  track: '`subscribed` of a tracked event, whose request had the kind of key `key`',
  form: 'a request to /v1/subscribe',
  confirmation: 'the recipient confirmed a request to /v1/subscribe',
  import: 'a row of an import, the job `jobId`',
  bulk: 'a bulk operation, the job `jobId`',
  workflow: 'an UPDATE_CONTACT step of the execution `executionId`',
} as const;

export type SubscriptionReason = keyof typeof SUBSCRIPTION_REASONS;

/** The execution that changes something; `depth` is how many executions led to it. */
export interface ExecutionCause {
  automationId: string;
  executionId: string;
  depth: number;
}

/** Why somebody gets no more email from the tool that an import is from. */
export const LEAVING_CAUSES = ['unsubscribed', 'bounced', 'complained', 'blocked'] as const;

/** What an import knows of somebody who has left elsewhere. */
export interface LeftElsewhere {
  because: (typeof LEAVING_CAUSES)[number];
  /** When, as the other tool writes it. */
  leftAt?: string;
}

/** What changed a subscription. */
export type SubscriptionCause =
  | {
      reason: Extract<SubscriptionReason, 'hard_bounce' | 'complaint' | 'link' | 'page' | 'one_click' | 'email'>;
      emailId: string;
    }
  | { reason: 'bounce_undone'; emailId: string; by?: 'operator' }
  | { reason: 'api'; endpoint: string }
  | { reason: 'send' | 'form' | 'confirmation' }
  | { reason: 'track'; key: 'public' | 'secret' }
  | { reason: 'bulk'; jobId: string }
  | ({ reason: 'import'; jobId: string } & Partial<LeftElsewhere>)
  | ({ reason: 'workflow' } & ExecutionCause);

/** A cause as callers see it: its reason, and what it names. */
export function causeData(cause: SubscriptionCause): Record<string, string> {
  if (cause.reason !== 'workflow') return cause;
  return { reason: cause.reason, workflowId: cause.automationId, executionId: cause.executionId };
}

/** The email that led to a change; null where none did. */
export function emailIdOf(cause: SubscriptionCause): string | null {
  return 'emailId' in cause ? cause.emailId : null;
}

/** What readers can choose as their reason, when a page asks why they left. */
export const LEAVING_REASONS = ['too_many', 'not_relevant', 'never_subscribed', 'other'] as const;
export type LeavingReason = (typeof LEAVING_REASONS)[number];

/** Why a reader left: by its choice, in its own words, or both. */
export interface Feedback {
  reason?: LeavingReason;
  text?: string;
}
