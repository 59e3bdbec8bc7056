import { setTimeout as delay } from 'node:timers/promises';
import type { ApplicationFailure } from '@temporalio/common';
import { burstSize, reserveSendBudget, type Reservation } from '../../shared/domain/emails/send-budget.ts';
import type { Em } from '../../shared/database/em.ts';
import { keptValue } from '../../shared/durable/attempts/attempt.ts';
import { waitFailure } from '../../shared/durable/attempts/failures.ts';

/** The sending speed of a project. */
export interface Throttle {
  em: () => Em;
  projectId: string;
  ratePerSecond: number;
  /** Whether the emails precede the reservations of others in the project. */
  isUrgent: boolean;
  signal: AbortSignal;
}

/** Resolves when the next email may be sent. */
export type Pace = () => Promise<void>;

/** An attempt sends the emails of this many seconds, then frees its slot until the next emails are due. */
const SLICE_SECONDS = 4;
/** For a shorter wait the slot is kept. */
const SHORT_WAIT_MS = 1_000;
/**
 * An attempt that is late by up to this time sends the missed emails at once, so that a project keeps its speed when
 * slots are scarce. A later one does not: after an outage there may be many.
 */
const LATE_MS_MAX = (SLICE_SECONDS + 1) * 1_000;

/** The share of the sending speed of the project that is reserved for the next attempt. */
const keptReservation = keptValue<Reservation>('reservation');

/** The number of emails that an attempt sends before it frees its slot; fewer if an earlier attempt reserved fewer. */
export function sliceSize(ratePerSecond: number): number {
  return usable(keptReservation.get())?.count ?? Math.max(1, ratePerSecond * SLICE_SECONDS);
}

function usable(reservation: Reservation | undefined): Reservation | undefined {
  return reservation && Date.now() - reservation.startsAtMs < LATE_MS_MAX ? reservation : undefined;
}

/**
 * Takes the reservation of the previous attempt, or reserves sending speed for `count` emails.
 * @throws ApplicationFailure `Throttled` when the reserved time is far away: the attempt is repeated then, with this
 *   reservation
 */
export async function takeReservation(throttle: Throttle, count: number): Promise<Pace> {
  const kept = usable(keptReservation.get());
  const reservation = kept && kept.count >= count ? kept : await reserve(throttle, count);
  const waitMs = reservation.startsAtMs - Date.now();
  if (waitMs > SHORT_WAIT_MS) throw throttledFailure(reservation);
  if (keptReservation.get()) keptReservation.set(undefined);
  return createPace(throttle, reservation);
}

/**
 * Reserves sending speed for the next of `count` remaining emails.
 * @returns the failure to throw: it makes Temporal repeat the attempt at the reserved time
 */
export async function reserveNextAttempt(throttle: Throttle, count: number): Promise<ApplicationFailure> {
  return throttledFailure(await reserve(throttle, Math.min(count, throttle.ratePerSecond * SLICE_SECONDS)));
}

function reserve({ em, projectId, ratePerSecond, isUrgent }: Throttle, count: number): Promise<Reservation> {
  return reserveSendBudget(em(), { projectId, ratePerSecond, isUrgent, count: Math.max(1, Math.floor(count)) });
}

function throttledFailure(reservation: Reservation): ApplicationFailure {
  keptReservation.set(reservation);
  return waitFailure(
    'Throttled',
    `The project sends at a limited speed. The next ${reservation.count} of its emails wait for their turn.`,
    Math.max(1, reservation.startsAtMs - Date.now()),
  );
}

function createPace({ ratePerSecond, signal }: Throttle, { startsAtMs }: Reservation): Pace {
  const burst = burstSize(ratePerSecond);
  let count = 0;
  return async () => {
    const index = count++;
    const dueAtMs = startsAtMs + (Math.floor(index / burst) * burst * 1_000) / ratePerSecond;
    const waitMs = dueAtMs - Date.now();
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => undefined);
  };
}
