import type { MessageLimits } from './message.ts';

/** The messages that went over a connection, for providers that take only some on one. */
export class CarriedMessages {
  readonly #counts = new Map<string, number>();
  /** Whether a provider takes no more messages on it. */
  isFull = false;

  note({ provider, messagesPerConnection = Infinity }: MessageLimits): void {
    if (messagesPerConnection === Infinity) return;
    const count = (this.#counts.get(provider) ?? 0) + 1;
    this.#counts.set(provider, count);
    this.isFull ||= count >= messagesPerConnection;
  }
}
