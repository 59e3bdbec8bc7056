/** What a mail server's verdict on one mail means for its record. */
export type DeliveryVerdict = 'sent' | 'bounced' | 'failed' | 'deferred';

export interface ServerRefusal {
  /** The command the server refused. */
  stage: 'mail' | 'rcpt' | 'data';
  /** Enhanced status code (RFC 3463) where the server gave one, such as 5.1.1. */
  enhancedCode?: string;
}

/**
 * Whether a permanent refusal (5xx) speaks of the recipient, a hard bounce that ends the subscription, or of the
 * sender or content, a failure: a server that dislikes a newsletter must not unsubscribe its readers. Class 5.1 is
 * "addressing status" in RFC 3463 section 3.2.
 */
export function verdictOfRejection(refusal: ServerRefusal): 'bounced' | 'failed' {
  const isAboutRecipient = refusal.stage === 'rcpt' || refusal.enhancedCode?.startsWith('5.1.') === true;
  return isAboutRecipient ? 'bounced' : 'failed';
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Pauses after each deferral (4xx): short at first, for servers that were busy for a moment, then past the five minutes
 * of common greylisting, then over a day, as RFC 5321 section 4.5.4.1 asks of a sender that gives up.
 */
const DEFERRAL_DELAYS_MS = [
  10 * SECOND,
  MINUTE,
  6 * MINUTE,
  20 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  12 * HOUR,
];

/** The pause before the next attempt after `deferrals` deferrals; undefined when it is time to give up. */
export function deferralDelayMs(deferrals: number): number | undefined {
  return DEFERRAL_DELAYS_MS[deferrals - 1];
}

/** Deferrals after which a mail has failed. */
export const DEFERRALS_MAX = DEFERRAL_DELAYS_MS.length + 1;
