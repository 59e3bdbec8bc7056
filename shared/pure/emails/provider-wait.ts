/** Why emails to a provider wait. Names nobody but the provider and the relays. */
export interface ProviderWait {
  reason: string;
  provider: string;
  /** The relays that the emails would go through, as `host:port`; missing when it is not about relays. */
  relay?: string;
  /** Whether none of the relays could be talked to, so that nobody has refused anything. */
  isUnreachable?: boolean;
  /** When it is tried next, as an ISO 8601 date. */
  until: string;
}

/** A provider is tried again at most about this long after its pause ends. */
const RENEWED_MS = 5_000;

/** Whether it still holds: a wait is written when emails are held, and is over when nobody renews it. */
export function isWaitCurrent({ until }: ProviderWait, nowMs: number): boolean {
  return Date.parse(until) + RENEWED_MS > nowMs;
}
