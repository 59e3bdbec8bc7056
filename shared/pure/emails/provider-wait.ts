/** Why emails to a provider wait. Names nobody but the provider. */
export interface ProviderWait {
  reason: string;
  provider: string;
  /** When it is tried next, as an ISO 8601 date. */
  until: string;
}
