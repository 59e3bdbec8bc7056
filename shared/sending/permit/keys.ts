/** Stands for all relays, or for all providers. */
export const ALL = '*';

/**
 * The key of a health record, which is about one of three: a provider behind a relay (`relay provider`), everything
 * behind a relay (`relay *`), or the messages that one project sends to a provider (`* provider project`).
 * @param relay `host:port`
 */
export function healthKey(relay: string, provider: string): string {
  return `${relay} ${provider}`;
}

/** The key for the messages that one project sends to a provider. */
export function contentKey(provider: string, projectId: string): string {
  return healthKey(ALL, `${provider} ${projectId}`);
}

/** Whether a key is about everything behind a relay. */
export function isWholeRelay(key: string): boolean {
  return key.endsWith(` ${ALL}`);
}

/** The relay and the provider of a key. The provider of a `contentKey` is `provider project`. */
export function partsOfKey(key: string): { relay: string; provider: string } {
  const at = key.indexOf(' ');
  return { relay: key.slice(0, at), provider: key.slice(at + 1) };
}

/** The subject of the rules of a project. */
export const projectSubject = (projectId: string): string => `project:${projectId}`;

/** The key of an allowance: what it is about, and the provider. */
export function allowanceKey(subject: string, provider: string): string {
  return `${subject} ${provider}`;
}

/** The subject and the provider of the key of an allowance. A provider has no space. */
export function partsOfAllowance(key: string): { subject: string; provider: string } {
  const at = key.lastIndexOf(' ');
  return { subject: key.slice(0, at), provider: key.slice(at + 1) };
}
