import type { AnswerNumber } from '../../pure/deliverability.ts';
import type { AnswerCount, SentCount } from '../ports.ts';
import { isNamedProvider } from '../verdict/mx-provider.ts';
import type { Answers } from './answers.ts';
import { ALL, partsOfKey } from './keys.ts';

/** The most counts that are kept while they cannot be stored. */
const COUNTS_MAX = 100_000;
/** Counts are stored once a second; more than these are gathered for longer, because each is a row. */
const EVERY_MS = 900;
const COUNTS_AT_ONCE = 200;
const GATHERED_MS = 10_000;

/** Stands for the providers beyond the number that a source has rows for. */
export const OTHER = 'other';
/** The providers that a source has rows for on a day, beside those known by name. */
export const PROVIDERS_MAX = 200;

/**
 * The numbers of emails that relays accepted, by relay, project and provider, and what providers made of the emails of
 * each source. It is cheap to add one.
 */
export class EmailCounts {
  readonly #numbers = new Map<string, Map<string, Map<string, number>>>();
  readonly #answers = new Map<string, Map<string, Answers>>();
  readonly #sinceMs: number;
  /** How many numbers of emails there are. */
  #size = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  /** Whether the numbers are to be stored. */
  isDue(nowMs: number): boolean {
    const ageMs = nowMs - this.#sinceMs;
    return ageMs >= GATHERED_MS || (ageMs >= EVERY_MS && this.#size <= COUNTS_AT_ONCE);
  }

  add(relay: string, projectId: string, provider: string, count = 1): void {
    const projects = this.#numbers.get(relay) ?? new Map<string, Map<string, number>>();
    this.#numbers.set(relay, projects);
    const providers = projects.get(projectId) ?? new Map<string, number>();
    projects.set(projectId, providers);
    const before = providers.get(provider);
    if (before === undefined) this.#size += 1;
    providers.set(provider, (before ?? 0) + count);
  }

  /** Adds what a provider made of an email of a source. */
  addAnswers(source: string, provider: string, answers: Answers): void {
    const providers = this.#answers.get(source) ?? new Map<string, Answers>();
    this.#answers.set(source, providers);
    const isOwn = providers.has(provider) || providers.size < PROVIDERS_MAX || isNamedProvider(provider);
    const name = isOwn ? provider : OTHER;
    const sums = providers.get(name) ?? {};
    for (const [number, count] of Object.entries(answers) as [AnswerNumber, number][]) {
      sums[number] = (sums[number] ?? 0) + count;
    }
    providers.set(name, sums);
  }

  /** Adds as many numbers as memory allows. */
  addAll(others: EmailCounts): void {
    let left = COUNTS_MAX - this.#size;
    for (const [relay, projects] of others.#numbers) {
      for (const [projectId, providers] of projects) {
        for (const [provider, count] of providers) if (left-- > 0) this.add(relay, projectId, provider, count);
      }
    }
    for (const { source, provider, answers } of others.answers()) this.addAnswers(source, provider, answers);
  }

  /** The number for a key of a relay. */
  at(key: string): number {
    const { relay, provider } = partsOfKey(key);
    const projects = [...(this.#numbers.get(relay)?.values() ?? [])];
    if (provider !== ALL) return projects.reduce((sum, providers) => sum + (providers.get(provider) ?? 0), 0);
    return projects.flatMap((providers) => [...providers.values()]).reduce((sum, count) => sum + count, 0);
  }

  /** The numbers by project and provider. Each may occur once for each relay. */
  sent(): SentCount[] {
    const projects = [...this.#numbers.values()].flatMap((each) => [...each]);
    return projects.flatMap(([projectId, providers]) =>
      [...providers].map(([provider, count]) => ({ projectId, provider, count })),
    );
  }

  answers(): AnswerCount[] {
    return [...this.#answers].flatMap(([source, providers]) =>
      [...providers].map(([provider, answers]) => ({ source, provider, answers })),
    );
  }
}
