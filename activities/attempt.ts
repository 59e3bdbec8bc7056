import { Context } from '@temporalio/activity';
import type { Reservation } from '../shared/domain/emails/send-budget.ts';

/** The memory that an attempt of an activity leaves for the next one. Temporal keeps it with the heartbeat details. */
export interface AttemptMemory {
  /** Attempts in a row, without progress, that ended in an unexpected error; a lost worker counts. */
  faults?: number;
  /** For how long no SMTP server took messages, in milliseconds, and when that was last seen (since 1970). */
  outage?: { totalMs: number; seenAtMs: number } | undefined;
  /** Sending speed of the project that is reserved for the next attempt. */
  reservation?: Reservation | undefined;
  /** How often the webhook of a step was actually called. */
  webhook?: { stepNumber: number; calls: number };
}

interface HeartbeatDetails {
  memory?: AttemptMemory;
  /** For operators. */
  progress?: unknown;
}

const memories = new WeakMap<Context, AttemptMemory>();

/** The memory of the attempts before this one. */
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

/** Tells Temporal that the attempt is alive, and how far it has come. An attempt within a workflow task has nobody to tell. */
export function beat(progress?: unknown): void {
  if (Context.current().info.isLocal) return;
  const details: HeartbeatDetails = { memory: attemptMemory(), ...(progress !== undefined && { progress }) };
  Context.current().heartbeat(details);
}

/** Keeps a value for the next attempt, even if this one fails. */
export function remember(change: AttemptMemory): void {
  memories.set(Context.current(), { ...attemptMemory(), ...change });
  beat();
}

/** The attempt made lasting progress, so earlier faults no longer count. */
export function noteProgress(): void {
  const { faults, outage } = attemptMemory();
  if (faults || outage) remember({ faults: 0, outage: undefined });
}
