/** Why emails to a provider wait. It names the provider and the relays, and no recipient. */
export interface ProviderWait {
  reason: string;
  provider: string;
  /**
   * The relays that the emails would go through, as `host:port`; missing when the provider refuses a project's
   * messages.
   */
  relay?: string;
  /** Whether none of the relays can be reached. Then no server has refused anything. */
  isUnreachable?: boolean;
  /** When the next email is tried, in ISO 8601. */
  until: string;
}

/** A provider is tried again at most about this long after its pause ends. */
const RENEWED_MS = 5_000;

/** Whether emails still wait. Workers write a wait while they hold emails; it has ended when no worker renews it. */
export function isWaitCurrent({ until }: ProviderWait, nowMs: number): boolean {
  return Date.parse(until) + RENEWED_MS > nowMs;
}
