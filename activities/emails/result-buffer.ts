import type { DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';

export interface ResultBuffer {
  /** Takes a result; it is recorded within `maxAgeMs` at the latest. */
  add: (result: DeliveryResult) => void;
  /** Records what is left. @throws what recording threw, now or earlier */
  drain: () => Promise<void>;
  /** The error of a recording that failed; then no more mail may be sent. */
  failure: () => unknown;
}

export interface ResultBufferOptions {
  record: (results: DeliveryResult[]) => Promise<void>;
  maxItems: number;
  maxAgeMs: number;
}

/**
 * Collects results and records them in bulk. What a killed process leaves undecided, mail that a server accepted and
 * that nobody knows of, is at most what this buffer and one recording under way hold.
 */
export function createResultBuffer(options: ResultBufferOptions): ResultBuffer {
  let buffered: DeliveryResult[] = [];
  let timer: NodeJS.Timeout | undefined;
  let recording: Promise<void> = Promise.resolve();
  let failure: unknown;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (buffered.length === 0) return;
    const results = buffered;
    buffered = [];
    recording = recording
      .then(() => (failure === undefined ? options.record(results) : undefined))
      .catch((error: unknown) => {
        failure ??= error;
      });
  }

  return {
    add(result) {
      buffered.push(result);
      if (buffered.length >= options.maxItems) flush();
      else timer ??= setTimeout(flush, options.maxAgeMs);
    },
    async drain() {
      flush();
      await recording;
      if (failure !== undefined) throw failure;
    },
    failure: () => failure,
  };
}
