import { Context } from '@temporalio/activity';
import type { Reservation } from '../shared/domain/emails/send-budget.ts';

/** What an attempt of an activity leaves for the next one. Temporal keeps it with the heartbeat details. */
export interface AttemptMemory {
  /** Attempts in a row, without progress, that ended in something nobody foresaw; a lost worker counts. */
  faults?: number;
  /** For how long no SMTP server took messages, in milliseconds, and when that was last seen (since 1970). */
  outage?: { totalMs: number; seenAtMs: number } | undefined;
  /** Sending speed of the project that is set aside for the next attempt. */
  reservation?: Reservation | undefined;
  /** How often the webhook of a visit to a step was really called. */
  webhook?: { visit: number; calls: number };
}

interface HeartbeatDetails {
  memory?: AttemptMemory;
  /** For operators. */
  progress?: unknown;
}

const memories = new WeakMap<Context, AttemptMemory>();

/** What the attempts before this one have left. */
export function attemptMemory(): Readonly<AttemptMemory> {
  const context = Context.current();
  let memory = memories.get(context);
  if (!memory) {
    const details: unknown = context.info.heartbeatDetails;
    const isOurs = typeof details === 'object' && details !== null && 'memory' in details;
    memory = (isOurs ? (details as HeartbeatDetails).memory : undefined) ?? {};
    memories.set(context, memory);
  }
  return memory;
}

/** Tells Temporal that the attempt is alive, and how far it has come. */
export function beat(progress?: unknown): void {
  const details: HeartbeatDetails = { memory: attemptMemory(), ...(progress !== undefined && { progress }) };
  Context.current().heartbeat(details);
}

/** Leaves something for the next attempt, whatever becomes of this one. */
export function remember(change: AttemptMemory): void {
  memories.set(Context.current(), { ...attemptMemory(), ...change });
  beat();
}

/** The attempt has done something that need not be done again, so what went wrong before counts no more. */
export function noteProgress(): void {
  const { faults, outage } = attemptMemory();
  if (faults || outage) remember({ faults: 0, outage: undefined });
}
