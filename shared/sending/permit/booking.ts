import { pause } from '../../platform/wait.ts';

/** Sending speed of a project that is reserved for a number of emails, from a moment on. It can be kept as JSON. */
export interface Booking {
  ratePerSecond: number;
  count: number;
  /** Milliseconds since 1970, by the clock of the database: another worker may use it. */
  startsAtMs: number;
}

/** An attempt sends the emails of this many seconds, then frees its slot until the next emails are due. */
export const SLICE_SECONDS = 4;
/**
 * An attempt that is late by up to this time sends the missed emails at once, so that a project keeps its speed when
 * slots are scarce. A later one does not: after an outage there may be many.
 */
const LATE_MS_MAX = (SLICE_SECONDS + 1) * 1_000;

/** A booking of an earlier attempt, unless it is too late for it, or the project has another rate by now. */
export function usable(booking: Booking | undefined, ratePerSecond: number, nowMs: number): Booking | undefined {
  const isCurrent = booking?.ratePerSecond === ratePerSecond && nowMs - booking.startsAtMs < LATE_MS_MAX;
  return isCurrent ? booking : undefined;
}

/** The number of emails that an attempt sends before it frees its slot; fewer if an earlier attempt booked fewer. */
export function sliceSize(ratePerSecond: number, kept?: Booking): number {
  return kept?.count ?? Math.max(1, ratePerSecond * SLICE_SECONDS);
}

/** How many emails are sent at once: those of half a second, at least 1 and at most 50. */
export function burstSize(ratePerSecond: number): number {
  return Math.max(1, Math.min(50, Math.floor(ratePerSecond / 2)));
}

/** Creates the function that resolves when the next email of a booking may be sent. */
export function turnsOf(
  { ratePerSecond, startsAtMs }: Booking,
  nowMs: number,
  signal: AbortSignal,
): () => Promise<void> {
  const burst = burstSize(ratePerSecond);
  // The clocks may be set meanwhile.
  const startsAt = performance.now() + startsAtMs - nowMs;
  let count = 0;
  return async () => {
    const index = count++;
    const waitMs = startsAt + (Math.floor(index / burst) * burst * 1_000) / ratePerSecond - performance.now();
    // A timer knows whole milliseconds only.
    if (waitMs >= 1) await pause(waitMs, signal);
  };
}
