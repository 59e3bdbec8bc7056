import { Share, type Release } from '../platform/share.ts';
import type { SmtpUrgency } from './transport/smtp-pool.ts';

/** The most activities whose slots others may have. */
const LENT_MAX = 100;
const OWNER = 'activities';

/** The slots of a worker for activities that send. One that only waits for silent hosts lends its slot to others. */
export class SendingSlots {
  readonly #share: Share;
  /** What activities hold that have not lent it. Slots are alike, so it does not matter whose is given back. */
  readonly #held: Release[] = [];
  #lent = 0;

  /** @param total how many activities may run, without those that only wait */
  constructor(total: number) {
    this.#share = new Share({ total });
  }

  /** How many activities only wait. */
  get lent(): number {
    return this.#lent;
  }

  /** @returns whether a slot was free */
  take(): boolean {
    const isFree = this.#share.isFree(OWNER, 1);
    if (isFree) this.#held.push(this.#share.add(OWNER, 1));
    return isFree;
  }

  /** Takes a slot when one is free. @throws the reason of the signal */
  async wait(signal: AbortSignal): Promise<void> {
    this.#held.push(await this.#share.take(OWNER, 1, signal));
  }

  /** Gives a slot back. */
  give(): void {
    this.#held.pop()?.();
  }

  /** Lends a slot that is taken. @returns ends that, although others may have it still */
  lend(): () => void {
    if (this.#lent >= LENT_MAX) return () => undefined;
    this.#lent += 1;
    this.give();
    return () => {
      this.#lent -= 1;
      this.#held.push(this.#share.add(OWNER, 1));
    };
  }
}

/** The slots of a process by the urgency of the mail. */
export type SlotsByUrgency = Readonly<Record<SmtpUrgency, SendingSlots>>;

/** An activity sends many emails at the same time, so a few activities use all connections. */
const DELIVERY_SLOTS = 8;
/** One page is enough for all connections; the others are loaded and recorded meanwhile. More belong to other workers. */
const PAGE_SLOTS = 4;

export function createSendingSlots(): SlotsByUrgency {
  return {
    transactional: new SendingSlots(DELIVERY_SLOTS),
    automation: new SendingSlots(DELIVERY_SLOTS),
    campaign: new SendingSlots(PAGE_SLOTS),
  };
}

/** The slot of one attempt, which is lent while all of its lanes wait for silent hosts. */
export class SlotOfAttempt {
  readonly #slots: Pick<SendingSlots, 'lend'>;
  #lanes = 0;
  #silent = 0;
  #takeBack: (() => void) | undefined;

  constructor(slots: Pick<SendingSlots, 'lend'>) {
    this.#slots = slots;
  }

  /** Notes how many lanes more have begun, and how many more of them wait for silent hosts. */
  note(lanes: number, silent: number): void {
    this.#lanes += lanes;
    this.#silent += silent;
    if (this.#lanes > 0 && this.#silent === this.#lanes) {
      this.#takeBack ??= this.#slots.lend();
    } else {
      this.#takeBack?.();
      this.#takeBack = undefined;
    }
  }
}
