/**
 * What a mail server's verdict on one email means for its record. `uncertain` is a deferral after which the server may
 * have the email all the same. `held`: its provider takes no email just now, or fewer; no delivery attempt is counted.
 */
export type DeliveryVerdict = 'sent' | 'bounced' | 'failed' | 'deferred' | 'uncertain' | 'held';

/** How long an email may be held for its provider in all. */
export const HELD_MS_MAX = 48 * 3_600_000;

/**
 * How often in its life an email is handed over without an answer to its content: each time may be a copy in the
 * mailbox.
 */
export const UNCERTAIN_ATTEMPTS_MAX = 3;

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

/**
 * Deferred emails whose turns are near each other are tried in one round: within a second, and a quarter of the wait.
 */
const ROUND_MS = 1_000;
const ROUND_SHARE = 1 / 4;

/** How long to wait for the next round of deferred emails, by what each has still to wait; 0 for none. */
export function nextRoundMs(waitsMs: readonly number[]): number {
  if (waitsMs.length === 0) return 0;
  const first = Math.min(...waitsMs);
  return Math.max(...waitsMs.filter((waitMs) => waitMs <= first * (1 + ROUND_SHARE) + ROUND_MS));
}
