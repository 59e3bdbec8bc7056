/** What a mail server's verdict on one mail means for its record. */
export type DeliveryVerdict = 'sent' | 'bounced' | 'failed' | 'deferred';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * Pauses in seconds after each deferral (4xx) where the operator sets none: short at first, for servers that were busy
 * for a moment, then past the five minutes of common greylisting, then over a day, as RFC 5321 section 4.5.4.1 asks of
 * a sender that gives up.
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
 * The pause in milliseconds before the next attempt after `deferrals` deferrals; undefined when it is time to give up.
 */
export function deferralDelayMs(retrySeconds: readonly number[], deferrals: number): number | undefined {
  const seconds = retrySeconds[deferrals - 1];
  return seconds === undefined ? undefined : seconds * 1_000;
}
