/** The most places that are remembered. */
const PLACES_MAX = 50_000;

/** When emails return that a rule holds: one after another in the line of the rule. */
export class HeldLines {
  readonly #ends = new Map<string, number>();
  readonly #places = new Map<string, { line: string; atMs: number }>();

  /**
   * Gives an email a place in a line. One that has returned before its place, as after a change of rules, keeps it: a
   * place that nobody has would be time in which nothing is sent.
   * @param earliestMs before this nothing returns
   * @param stepMs the time between two places
   * @returns when the email returns
   */
  place(line: string, emailId: string, { earliestMs, stepMs }: { earliestMs: number; stepMs: number }): number {
    const known = this.#places.get(emailId);
    if (known?.line === line && known.atMs >= earliestMs) return known.atMs;
    const atMs = Math.max(this.#ends.get(line) ?? 0, earliestMs);
    for (const map of [this.#ends, this.#places]) if (map.size >= PLACES_MAX) map.clear();
    this.#ends.set(line, atMs + stepMs);
    this.#places.set(emailId, { line, atMs });
    return atMs;
  }
}
