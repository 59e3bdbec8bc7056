import type { SlotOfAttempt } from './sending-slots.ts';

/** The most emails of a batch that wait in memory for silent hosts beside its lanes. */
const SILENT_MAX = 100;

/** The lanes of a batch. Each does one work after another, so there are as many works at a time as lanes. */
export class Lanes {
  readonly #lane: () => Promise<void>;
  readonly #slot: SlotOfAttempt;
  readonly #all: Promise<void>[] = [];
  #apart = 0;

  /** @param lane does works until none is left, or until one ended its lane. It never rejects. */
  constructor(lane: () => Promise<void>, slot: SlotOfAttempt) {
    this.#lane = lane;
    this.#slot = slot;
  }

  /** Runs a number of lanes, and those that take the place of others. */
  async run(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) this.#start();
    for (const lane of this.#all) await lane;
  }

  /**
   * Does a work of a lane. Once it calls `onSilence`, because a host is silent, another lane takes the place of its own.
   * @returns whether its lane goes on
   */
  async work(work: (onSilence: () => void) => Promise<void>): Promise<boolean> {
    let [isSilent, goesOn] = [false, true];
    const onSilence = (): void => {
      if (isSilent) return;
      isSilent = true;
      this.#slot.note(0, 1);
      if (this.#apart >= SILENT_MAX) return;
      goesOn = false;
      this.#apart += 1;
      this.#start();
    };
    await work(onSilence).finally(() => {
      if (isSilent) this.#slot.note(0, -1);
      if (!goesOn) this.#apart -= 1;
    });
    return goesOn;
  }

  #start(): void {
    this.#slot.note(1, 0);
    this.#all.push(this.#lane().finally(() => this.#slot.note(-1, 0)));
  }
}
