/** Why emails to a provider wait. Names nobody but the provider and the relays. */
export interface ProviderWait {
  reason: string;
  provider: string;
  /** The relays that the emails would go through, as `host:port`; missing when it is not about relays. */
  relay?: string;
  /** When it is tried next, as an ISO 8601 date. */
  until: string;
}
