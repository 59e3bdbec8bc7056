/**
 * The content type of an email. It decides footer, unsubscribe headers and whether unsubscribed contacts are skipped.
 */
export const EMAIL_TYPES = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const;
export type EmailType = (typeof EMAIL_TYPES)[number];

/**
 * The life of one email to one recipient. SKIPPED, SUPPRESSED and CANCELLED emails were never handed to a mail server.
 */
export const EMAIL_STATUSES = [
  'PENDING',
  'SENDING',
  'SENT',
  'DELIVERED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'FAILED',
  'SKIPPED',
  'SUPPRESSED',
  'CANCELLED',
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** An email in these statuses has no outcome yet. */
export const OPEN_EMAIL_STATUSES = ['PENDING', 'SENDING'] as const satisfies readonly EmailStatus[];

/**
 * The statuses of an email that a mail server has accepted, in rising order. Reports only move it forward: a bounce
 * outranks the opens of a scanner.
 */
export const HANDED_OVER_STATUSES = [
  'SENT',
  'DELIVERED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
] as const satisfies readonly EmailStatus[];
export type HandedOverStatus = (typeof HANDED_OVER_STATUSES)[number];

/** The statuses from which a report moves an email to `to`. */
export function emailStatusesBelow(to: HandedOverStatus): HandedOverStatus[] {
  return HANDED_OVER_STATUSES.slice(0, HANDED_OVER_STATUSES.indexOf(to));
}

/** Reports change emails in these statuses. A report may come before the sending of its email is recorded. */
export const REPORTABLE_STATUSES = [...OPEN_EMAIL_STATUSES, ...HANDED_OVER_STATUSES] as const;

const emailStatusesAbove = (from: HandedOverStatus) =>
  HANDED_OVER_STATUSES.slice(HANDED_OVER_STATUSES.indexOf(from) + 1);

const OUTCOMES = [...HANDED_OVER_STATUSES, 'FAILED', 'SKIPPED', 'SUPPRESSED'] as const;

/**
 * The statuses that an email may move to. A report may come before its sending is recorded, so PENDING may be CLICKED.
 */
export const EMAIL_TRANSITIONS: Record<EmailStatus, readonly EmailStatus[]> = {
  PENDING: ['SENDING', 'CANCELLED', ...OUTCOMES],
  // PENDING again when the email is deferred or its claim is released.
  SENDING: ['PENDING', 'CANCELLED', ...OUTCOMES],
  SENT: emailStatusesAbove('SENT'),
  DELIVERED: emailStatusesAbove('DELIVERED'),
  OPENED: emailStatusesAbove('OPENED'),
  CLICKED: emailStatusesAbove('CLICKED'),
  // The emails of a campaign that nobody received become PENDING when the campaign is sent again.
  BOUNCED: [...emailStatusesAbove('BOUNCED'), 'PENDING'],
  COMPLAINED: [],
  // The outcome of an email that was being sent when its campaign ended with an error.
  FAILED: ['SENT', ...emailStatusesAbove('SENT'), 'PENDING'],
  SKIPPED: ['PENDING'],
  SUPPRESSED: ['PENDING'],
  // The outcome of an email that was being sent when its campaign was cancelled.
  CANCELLED: OUTCOMES,
};

/** MARKETING and HEADLESS emails go to subscribed contacts only; TRANSACTIONAL emails reach everybody. */
export function needsSubscription(type: EmailType): boolean {
  return type !== 'TRANSACTIONAL';
}
