/** All relays, or all providers. */
export const ALL = '*';

/**
 * What a health record is about, as one text: a provider behind a relay, everything behind a relay (`relay *`), or what
 * one project sends to a provider (`* provider project`).
 * @param relay `host:port`
 */
export function healthKey(relay: string, provider: string): string {
  return `${relay} ${provider}`;
}

export function contentKey(provider: string, projectId: string): string {
  return healthKey(ALL, `${provider} ${projectId}`);
}

/** Whether a key is about everything behind a relay. */
export function isWholeRelay(key: string): boolean {
  return key.endsWith(` ${ALL}`);
}

/** The relay and the provider of a key; the latter may have a project behind it. */
export function partsOfKey(key: string): { relay: string; provider: string } {
  const at = key.indexOf(' ');
  return { relay: key.slice(0, at), provider: key.slice(at + 1) };
}
