/** The most places that are remembered. */
const PLACES_MAX = 50_000;

/** An email that a rule or a speed holds, and whose it is. */
export interface HeldEmail {
  rule: string;
  owner: string;
  /** Missing where it may get another place when it returns early. */
  emailId?: string;
}

/** Times in milliseconds. */
interface HeldTimes {
  /** Before this nothing returns. */
  earliestMs: number;
  /** After this nothing has a place. */
  latestMs?: number;
  /** The time between two places of a rule. */
  stepMs: number;
}

/**
 * When emails return that a rule holds: one after another. Each owner has a line of its own, so that nobody waits behind
 * the mail of others. All lines of a rule together are as fast as one.
 */
export class HeldLines {
  /** When the last place of each owner is over, by rule. */
  readonly #lines = new Map<string, Map<string, number>>();
  readonly #places = new Map<string, { rule: string; atMs: number }>();

  /**
   * Gives an email a place in a line. One that has returned before its place, as after a change of rules, keeps it: a
   * place that nobody has would be time in which nothing is sent.
   * @returns when the email returns
   */
  place({ rule, owner, emailId = '' }: HeldEmail, { earliestMs, latestMs = Infinity, stepMs }: HeldTimes): number {
    const known = this.#places.get(emailId);
    if (known?.rule === rule && known.atMs >= earliestMs) return known.atMs;
    for (const map of [this.#lines, this.#places]) if (map.size >= PLACES_MAX) map.clear();
    const ends = this.#lines.get(rule) ?? new Map<string, number>();
    for (const [each, endMs] of ends) if (endMs <= earliestMs) ends.delete(each);
    const atMs = Math.min(ends.get(owner) ?? earliestMs, latestMs);
    ends.set(owner, atMs);
    ends.set(owner, atMs + stepMs * ends.size);
    this.#lines.set(rule, ends);
    if (emailId) this.#places.set(emailId, { rule, atMs });
    return atMs;
  }
}
