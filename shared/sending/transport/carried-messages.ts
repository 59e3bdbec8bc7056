import type { SmtpCapabilities } from './connect.ts';
import { StalePermitError } from './errors.ts';
import type { MessageLimits } from './message.ts';
import type { QueuedMessage } from './message-queue.ts';
import type { SmtpServerOptions } from './smtp-url.ts';
import { Utf8NotOfferedError } from './wire-address.ts';

/** The messages that go over a connection: those that its server can take, of some providers only so many. */
export class CarriedMessages {
  readonly #counts = new Map<string, number>();
  readonly #hasUtf8: boolean;
  readonly #server: Pick<SmtpServerOptions, 'label' | 'exchange'>;
  /** Whether a provider takes no more messages on it. */
  isFull = false;

  constructor({ hasUtf8 }: SmtpCapabilities, server: Pick<SmtpServerOptions, 'label' | 'exchange'>) {
    this.#hasUtf8 = hasUtf8;
    this.#server = server;
  }

  note({ provider, messagesPerConnection = Infinity }: MessageLimits): void {
    if (messagesPerConnection === Infinity) return;
    const count = (this.#counts.get(provider) ?? 0) + 1;
    this.#counts.set(provider, count);
    this.isFull ||= count >= messagesPerConnection;
  }

  /** Takes the first message that the server can take. Those before it are given back. */
  firstOf(take: () => QueuedMessage | undefined): QueuedMessage | undefined {
    const { label, exchange = label } = this.#server;
    for (;;) {
      const message = take();
      if (message?.limits?.isStale) message.reject(new StalePermitError());
      else if (this.#hasUtf8 || !message?.envelope.isUtf8) return message;
      else message.reject(new Utf8NotOfferedError([label], exchange));
    }
  }
}
