/** The content type of a mail. It decides footer, unsubscribe headers and whether unsubscribed contacts are skipped. */
export const EMAIL_TYPES = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const;
export type EmailType = (typeof EMAIL_TYPES)[number];

/** The life of one mail to one recipient. SKIPPED, SUPPRESSED and CANCELLED mail was never handed to a mail server. */
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

/** MARKETING and HEADLESS mail goes to subscribed contacts only; TRANSACTIONAL mail reaches everybody. */
export function needsSubscription(type: EmailType): boolean {
  return type !== 'TRANSACTIONAL';
}
