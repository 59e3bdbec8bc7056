import type { ApplicationFailure } from '@temporalio/common';
import { pause } from '../../shared/platform/wait.ts';
import { keptValue } from '../../shared/durable/attempts/attempt.ts';
import { waitFailure } from '../../shared/durable/attempts/failures.ts';
import { sliceSize, turnsOf, usable, type Booking } from '../../shared/sending/permit/booking.ts';
import type { Permit } from '../../shared/sending/permit/permit.ts';
import type { BookingRequest, Stream } from '../../shared/sending/ports.ts';

/** The sending speed of a project, for one attempt. */
export interface Throttle extends Omit<BookingRequest, 'count'> {
  permit: Pick<Permit, 'book' | 'note' | 'nowMs'>;
  stream: Stream;
  signal: AbortSignal;
}

/** Resolves when the next email may be sent. */
export type Turn = ReturnType<typeof turnsOf>;

/** For a shorter wait the slot is kept. */
const SHORT_WAIT_MS = 1_000;
/** Pages of campaigns look again after this time, because the rate may be another one. Other emails are redelivered then. */
const PAGE_WAIT_MS = 30_000;

/** The sending speed of the project that is booked for the next attempt. */
const keptBooking = keptValue<Booking>('booking');

/** The number of emails that the attempt sends. */
export function attemptSize(throttle: Throttle): number {
  return sliceSize(throttle.ratePerSecond, usableBooking(throttle));
}

/** What an earlier attempt booked, if it can still be used. */
function usableBooking({ permit, ratePerSecond }: Throttle): Booking | undefined {
  return usable(keptBooking.get(), ratePerSecond, permit.nowMs());
}

/**
 * Takes the booking of the previous attempt, or books sending speed for `count` emails.
 * @param waits whether to wait for the booked time
 * @throws ApplicationFailure `Throttled` when the booked time is far away: the attempt is repeated then, with this
 *   booking
 */
export async function takeTurns(throttle: Throttle, count: number, waits = false): Promise<Turn> {
  const kept = usableBooking(throttle);
  const booking = kept && kept.count >= count ? kept : await book(throttle, count);
  const waitMs = booking.startsAtMs - throttle.permit.nowMs();
  if (waits) await pause(Math.max(0, waitMs), throttle.signal);
  else if (waitMs > SHORT_WAIT_MS) throw await throttledFailure(throttle, booking);
  if (keptBooking.get()) keptBooking.set(undefined);
  return turnsOf(booking, throttle.permit.nowMs(), throttle.signal);
}

/**
 * Books sending speed for the next of `count` remaining emails.
 * @returns the failure to throw: it makes Temporal repeat the attempt at the booked time
 */
export async function bookNextAttempt(throttle: Throttle, count: number): Promise<ApplicationFailure> {
  return throttledFailure(throttle, await book(throttle, Math.min(count, sliceSize(throttle.ratePerSecond))));
}

function book({ permit, projectId, ratePerSecond, isUrgent }: Throttle, count: number): Promise<Booking> {
  return permit.book({ projectId, ratePerSecond, isUrgent, count: Math.max(1, Math.floor(count)) });
}

async function throttledFailure(
  { permit, projectId, stream }: Throttle,
  booking: Booking,
): Promise<ApplicationFailure> {
  keptBooking.set(booking);
  const waitMs = Math.max(1, booking.startsAtMs - permit.nowMs());
  const until = new Date(Date.now() + waitMs).toISOString();
  await permit.note(projectId, stream, { level: 'project', reason: 'throttled', words: null, until });
  const message = `The project sends at a limited speed. The next ${booking.count} of its emails wait for their turn.`;
  return waitFailure('Throttled', message, stream === 'campaign' ? Math.min(waitMs, PAGE_WAIT_MS) : waitMs);
}
