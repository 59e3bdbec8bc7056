import type { SentCount } from '../ports.ts';
import { ALL, partsOfKey } from './keys.ts';

/** The most counts that are kept while they cannot be stored. */
const COUNTS_MAX = 100_000;
/** Counts are stored once a second; more than these are gathered for longer, because each is a row. */
const EVERY_MS = 900;
const COUNTS_AT_ONCE = 200;
const GATHERED_MS = 10_000;

/** The numbers of emails that relays accepted, by relay, project and provider. It is cheap to add one. */
export class AcceptedEmails {
  readonly #numbers = new Map<string, Map<string, Map<string, number>>>();
  readonly #sinceMs: number;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  /** Whether the numbers are to be stored. */
  isDue(nowMs: number): boolean {
    const ageMs = nowMs - this.#sinceMs;
    return ageMs >= GATHERED_MS || (ageMs >= EVERY_MS && this.counts().length <= COUNTS_AT_ONCE);
  }

  add(relay: string, projectId: string, provider: string, count = 1): void {
    const projects = this.#numbers.get(relay) ?? new Map<string, Map<string, number>>();
    this.#numbers.set(relay, projects);
    const providers = projects.get(projectId) ?? new Map<string, number>();
    projects.set(projectId, providers);
    providers.set(provider, (providers.get(provider) ?? 0) + count);
  }

  /** Adds as many numbers as memory allows. */
  addAll(others: AcceptedEmails): void {
    let left = COUNTS_MAX - this.counts().length;
    for (const [relay, projects] of others.#numbers) {
      for (const [projectId, providers] of projects) {
        for (const [provider, count] of providers) if (left-- > 0) this.add(relay, projectId, provider, count);
      }
    }
  }

  /** The number for a key of a relay. */
  at(key: string): number {
    const { relay, provider } = partsOfKey(key);
    const projects = [...(this.#numbers.get(relay)?.values() ?? [])];
    if (provider !== ALL) return projects.reduce((sum, providers) => sum + (providers.get(provider) ?? 0), 0);
    return projects.flatMap((providers) => [...providers.values()]).reduce((sum, count) => sum + count, 0);
  }

  /** The numbers by project and provider. Each may occur once for each relay. */
  counts(): SentCount[] {
    const projects = [...this.#numbers.values()].flatMap((each) => [...each]);
    return projects.flatMap(([projectId, providers]) =>
      [...providers].map(([provider, count]) => ({ projectId, provider, count })),
    );
  }
}
