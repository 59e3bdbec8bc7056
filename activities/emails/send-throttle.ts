import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { burstSize, reserveSendBudget, type Reservation } from '../../shared/domain/emails/send-budget.ts';
import type { Em } from '../../shared/domain/database/em.ts';
import { attemptMemory, remember } from '../attempt.ts';

/** The sending speed of a project. */
export interface Throttle {
  em: () => Em;
  projectId: string;
  ratePerSecond: number;
  /** Whether the emails go ahead of the reservations of others in the project. */
  isUrgent: boolean;
  signal: AbortSignal;
}

/** Resolves when the next email may go. */
export type Pace = () => Promise<void>;

/** A slot is held for the emails of this many seconds, then given to others until the next emails may go. */
const SLICE_SECONDS = 4;
/** A wait so short that the slot is kept. */
const SHORT_WAIT_MS = 1_000;
/**
 * An attempt that is late sends the missed emails at once, so that a project keeps its speed when slots are short.
 * One that comes later than this does not: there may be many of them, after an outage.
 */
const LATE_MS_MAX = (SLICE_SECONDS + 1) * 1_000;

/** How many emails an attempt sends before it gives its slot back; fewer where an earlier attempt set fewer aside. */
export function sliceSize(ratePerSecond: number): number {
  return usable(attemptMemory().reservation)?.count ?? Math.max(1, ratePerSecond * SLICE_SECONDS);
}

function usable(reservation: Reservation | undefined): Reservation | undefined {
  return reservation && Date.now() - reservation.startsAtMs < LATE_MS_MAX ? reservation : undefined;
}

/**
 * Takes what the attempt before has set aside, or sets sending speed aside for `count` emails.
 * @throws ApplicationFailure `Throttled` when their time is far away: the attempt is repeated then, with this reservation
 */
export async function takeReservation(throttle: Throttle, count: number): Promise<Pace> {
  const kept = usable(attemptMemory().reservation);
  const reservation = kept && kept.count >= count ? kept : await reserve(throttle, count);
  const waitMs = reservation.startsAtMs - Date.now();
  if (waitMs > SHORT_WAIT_MS) throw setAside(reservation);
  if (attemptMemory().reservation) remember({ reservation: undefined });
  return createPace(throttle, reservation);
}

/**
 * Sets sending speed aside for the next of `count` emails that are left.
 * @returns the failure to throw, which has the attempt repeated when their time has come
 */
export async function comeBackFor(throttle: Throttle, count: number): Promise<ApplicationFailure> {
  return setAside(await reserve(throttle, Math.min(count, throttle.ratePerSecond * SLICE_SECONDS)));
}

function reserve({ em, projectId, ratePerSecond, isUrgent }: Throttle, count: number): Promise<Reservation> {
  return reserveSendBudget(em(), { projectId, ratePerSecond, isUrgent, count: Math.max(1, Math.floor(count)) });
}

function setAside(reservation: Reservation): ApplicationFailure {
  remember({ reservation });
  return ApplicationFailure.create({
    type: 'Throttled',
    message: `The project sends at a limited speed. The next ${reservation.count} of its emails wait for their turn.`,
    nextRetryDelay: Math.max(1, reservation.startsAtMs - Date.now()),
    category: 'BENIGN',
  });
}

function createPace({ ratePerSecond, signal }: Throttle, { startsAtMs }: Reservation): Pace {
  const burst = burstSize(ratePerSecond);
  let taken = 0;
  return async () => {
    const place = taken++;
    const dueAtMs = startsAtMs + (Math.floor(place / burst) * burst * 1_000) / ratePerSecond;
    const waitMs = dueAtMs - Date.now();
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => undefined);
  };
}
