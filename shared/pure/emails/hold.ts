/** Why emails wait. */
export const WAITING_REASONS = [
  'project disabled',
  'campaign paused',
  'complaints',
  'provider paused',
  'traffic rule',
  'warm-up',
  'no source',
  'deferred',
  'throttled',
  'no relay',
  'scheduled',
  'queued',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** The decision that emails may not go now. It names no recipient. */
export interface Hold {
  /** What caused it: it concerns all emails of that. `stream` is the campaigns of a project. */
  level: 'installation' | 'project' | 'stream' | 'provider' | 'relay';
  reason: WaitingReason;
  /** The reason in a sentence; null when it says no more than the reason. */
  words: string | null;
  /** When the next email is tried, in ISO 8601. */
  until: string;
  /** The provider of the recipients, if it is about one. */
  provider?: string;
  /** The relays that the emails would go through, as `host:port`, if it is about these. */
  relay?: string;
  /**
   * All changes of the project and of sources before this time were known when it was decided, in milliseconds since 1970
   * by the clock of the database; missing where such a change ends no hold.
   */
  knownMs?: number;
}

/** How long a hold still lasts, in milliseconds. @param nowMs by the clock that decided it */
export function remainingMs({ until }: Hold, nowMs: number): number {
  return Math.max(0, Date.parse(until) - nowMs);
}
