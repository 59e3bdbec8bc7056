/**
 * What the result of one delivery attempt means for the email's record. `uncertain` is a deferral after which the
 * server may have the email all the same. `held`: the recipient's provider is paused or slowed down; the attempt does
 * not count.
 */
export type DeliveryVerdict = 'sent' | 'bounced' | 'failed' | 'deferred' | 'uncertain' | 'held';

/** An email may be held for its provider this long in total. */
export const HELD_MS_MAX = 48 * 3_600_000;

/**
 * The most delivery attempts of one email that may end without a reply to its content. Each may have put a copy into
 * the mailbox.
 */
export const UNCERTAIN_ATTEMPTS_MAX = 3;

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * The pauses in seconds after each deferral (4xx), unless the operator sets others. The first are short, for servers
 * that are busy for a moment. The third is longer than common greylisting, which lasts five minutes. All together last
 * 27 hours. RFC 5321 section 4.5.4.1 recommends four to five days, which an operator can set.
 */
export const DELIVERY_RETRY_SECONDS_DEFAULT: readonly number[] = [
  10,
  MINUTE,
  6 * MINUTE,
  20 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  12 * HOUR,
];

/**
 * The pause in milliseconds before the next attempt after `deferrals` deferrals; undefined when there is no next
 * attempt.
 */
export function deferralDelayMs(retrySeconds: readonly number[], deferrals: number): number | undefined {
  const seconds = retrySeconds[deferrals - 1];
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** One round tries all deferred emails that are due within the first one's wait, a quarter of it, and a second. */
const ROUND_MS = 1_000;
const ROUND_SHARE = 1 / 4;

/** How long to wait until the next round of deferred emails, given the rest of each one's wait; 0 for no emails. */
export function nextRoundMs(waitsMs: readonly number[]): number {
  if (waitsMs.length === 0) return 0;
  const first = Math.min(...waitsMs);
  return Math.max(...waitsMs.filter((waitMs) => waitMs <= first * (1 + ROUND_SHARE) + ROUND_MS));
}
