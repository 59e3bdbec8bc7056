import { Context } from '@temporalio/activity';

/**
 * What an attempt of an activity remembers for the next one, which may run in another process. Temporal stores it with
 * the heartbeat details.
 */
export interface AttemptMemory {
  /** Attempts in a row without progress that ended in an unexpected error or with a lost worker. */
  faults?: number;
  /** How long an outage has lasted, in milliseconds, and when it was last seen, in milliseconds since 1970. */
  outage?: { totalMs: number; seenAtMs: number } | undefined;
  /** The values of `keptValue`, by their names. */
  [name: string]: unknown;
}

interface HeartbeatDetails {
  memory?: AttemptMemory;
  /** Shown to operators in the Temporal UI. */
  progress?: unknown;
}

const memories = new WeakMap<Context, AttemptMemory>();
const progressReports = new WeakMap<Context, () => unknown>();

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

/** Sets what the heartbeats of the attempt report as its progress. */
export function reportProgress(progress: () => unknown): void {
  progressReports.set(Context.current(), progress);
}

/** Sends a heartbeat with the memory and the progress. A local activity has no heartbeats. */
export function beat(): void {
  const context = Context.current();
  if (context.info.isLocal) return;
  const progress = progressReports.get(context)?.();
  const details: HeartbeatDetails = { memory: attemptMemory(), ...(progress !== undefined && { progress }) };
  context.heartbeat(details);
}

/** Stores values for the next attempt, even if this one fails. */
export function remember(change: AttemptMemory): void {
  memories.set(Context.current(), { ...attemptMemory(), ...change });
  beat();
}

/** A value that an activity keeps from one attempt to the next. */
export interface KeptValue<T> {
  get: () => T | undefined;
  set: (value: T | undefined) => void;
}

/** Names a value that the attempts of an activity keep. JSON must be able to hold the value. */
export function keptValue<T>(name: string): KeptValue<T> {
  return {
    get: () => attemptMemory()[name] as T | undefined,
    set: (value) => remember({ [name]: value }),
  };
}

/** Notes lasting progress of the attempt, so earlier faults no longer count. */
export function noteProgress(): void {
  const { faults, outage } = attemptMemory();
  if (faults || outage) remember({ faults: 0, outage: undefined });
}
