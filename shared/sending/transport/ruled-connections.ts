import type { BudgetMember, ConnectionBudget } from './connection-budget.ts';
import type { MessageLimits } from './message.ts';

interface Ruled {
  budget: ConnectionBudget;
  member: BudgetMember;
}

/**
 * The connections of a pool that count for traffic rules. A connection counts until its end, also while it is opened,
 * idle or ending, because the provider counts it so.
 */
export class RuledConnections {
  readonly #memberOf: (label: string) => BudgetMember;
  /** By label, then by provider. */
  readonly #rules = new Map<string, Map<string, Ruled>>();
  readonly #open = new Map<string, number>();

  /** @param memberOf the connections of the pool to the servers of a label */
  constructor(memberOf: (label: string) => BudgetMember) {
    this.#memberOf = memberOf;
  }

  /** Notes what rules say about the connections that a message may use: those of all labels but some. */
  note({ provider, budget }: MessageLimits, labels: readonly string[], avoid?: ReadonlySet<string>): void {
    for (const label of labels) {
      const rules = this.#rules.get(label) ?? new Map<string, Ruled>();
      if (!budget || avoid?.has(label) || rules.get(provider)?.budget === budget) continue;
      const rule = { budget, member: this.#memberOf(label) };
      this.#rules.set(label, rules.set(provider, rule));
      for (let open = this.#open.get(label) ?? 0; open > 0; open -= 1) budget.opened(rule.member);
    }
  }

  hasRoom(label: string): boolean {
    return this.#of(label).every(({ budget }) => budget.free(true) > 0);
  }

  /** Whether another pool needs one of these connections. */
  isWanted(label: string): boolean {
    return this.#of(label).some(({ budget }) => budget.isWanted);
  }

  /** Waits for room at labels without any. @returns whether there are some */
  want(isNeeded: (label: string) => boolean): boolean {
    const needed = [...this.#rules.keys()].filter(isNeeded).flatMap((label) => this.#of(label));
    const full = needed.filter(({ budget }) => budget.free(true) === 0);
    for (const { budget, member } of full) budget.want(member);
    return full.length > 0;
  }

  opened(label: string): void {
    this.#open.set(label, (this.#open.get(label) ?? 0) + 1);
    for (const { budget, member } of this.#of(label)) budget.opened(member);
  }

  ended(label: string): void {
    this.#open.set(label, (this.#open.get(label) ?? 1) - 1);
    for (const { budget, member } of this.#of(label)) budget.ended(member);
  }

  noteIdle(label: string): void {
    for (const { budget, member } of this.#of(label)) budget.noteIdle(member);
  }

  #of(label: string): Ruled[] {
    return [...(this.#rules.get(label)?.values() ?? [])];
  }
}
