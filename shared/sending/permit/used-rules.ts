import type { ConnectionBudget } from '../transport/connection-budget.ts';
import type { MessageLimits } from '../transport/message.ts';
import type { Entry, Lent } from './allowance-entry.ts';
import type { Allowances, Since } from './allowances.ts';

/** The traffic rules that an email uses, from its permit to its end. */
export class UsedRules implements MessageLimits {
  readonly uses: readonly Entry[];
  readonly provider: string;
  readonly messagesPerConnection: number | undefined;
  readonly budget: ConnectionBudget | undefined;
  readonly #allowances: Allowances;
  readonly #lent: readonly (Lent | undefined)[];
  /** Since when it is on its way to the wire, or on it. */
  #since: Since;

  /** Uses up what the email needs. */
  constructor(
    allowances: Allowances,
    uses: readonly Entry[],
    { provider, messagesPerConnection }: Pick<MessageLimits, 'provider' | 'messagesPerConnection'>,
    nowMs: number,
  ) {
    this.#allowances = allowances;
    this.uses = uses;
    this.#since = { takenMs: nowMs };
    this.#lent = uses.map((use) => allowances.take(use, nowMs));
    this.provider = provider;
    this.messagesPerConnection = messagesPerConnection;
    for (const use of uses) this.budget ??= allowances.connectionsOf(use);
  }

  /** Whether it waited for so long that others may have what it may use. */
  get isStale(): boolean {
    const { takenMs } = this.#since;
    return takenMs !== undefined && this.uses.some((use) => this.#allowances.isStale(use, takenMs));
  }

  /** Notes that the message begins on a connection; it may do so again on another one. */
  begun(): void {
    this.#since = { begunMs: this.#allowances.begun(this.uses, this.#since, this.#lent) };
  }

  /** Notes that nothing more becomes of the email. One that has not begun uses nothing. */
  done(): void {
    for (const use of this.uses) this.#allowances.done(use, this.#since);
  }
}
