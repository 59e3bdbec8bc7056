import type { SmtpUrgency } from './transport/smtp-pool.ts';

/** The most activities whose slots others may have. */
const LENT_MAX = 100;

/** The slots of a worker for activities that send. One that only waits for silent hosts lends its slot to others. */
export class SendingSlots {
  readonly #most: number;
  #used = 0;
  #lent = 0;
  #change = Promise.withResolvers<undefined>();

  /** @param most how many activities may run, without those that only wait */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many activities only wait. */
  get lent(): number {
    return this.#lent;
  }

  /** @returns whether a slot was free */
  take(): boolean {
    if (this.#used - this.#lent >= this.#most) return false;
    this.#used += 1;
    return true;
  }

  /** Takes a slot when one is free. @throws the reason of the signal */
  async wait(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<undefined>();
    signal.addEventListener('abort', () => aborted.resolve(undefined), { once: true });
    for (;;) {
      signal.throwIfAborted();
      if (this.take()) return;
      await Promise.race([this.#change.promise, aborted.promise]);
    }
  }

  /** Gives a slot back. */
  give(): void {
    this.#used -= 1;
    this.#freed();
  }

  /** Lends a slot that is taken. @returns ends that, although others may have it still */
  lend(): () => void {
    if (this.#lent >= LENT_MAX) return () => undefined;
    this.#lent += 1;
    this.#freed();
    return () => (this.#lent -= 1);
  }

  #freed(): void {
    this.#change.resolve(undefined);
    this.#change = Promise.withResolvers();
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
