import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../../shared/domain/database/database-errors.ts';
import type { DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';

export interface ResultBuffer {
  /** Adds a result. It is recorded within `maxAgeMs`, or as soon as the current recording is done. */
  add: (result: DeliveryResult) => void;
  /** Resolves when few enough results wait to be recorded. Await it before sending more email. */
  ready: () => Promise<void>;
  /**
   * Records the remaining results.
   * @throws the error of a recording, now or earlier
   */
  drain: () => Promise<void>;
  /** The error of a recording that failed; after it no more email may be sent. */
  failure: () => unknown;
}

export interface ResultBufferOptions {
  record: (results: DeliveryResult[]) => Promise<void>;
  /** Recording begins when this many wait. */
  maxItems: number;
  /** Sending pauses when this many wait while others are being recorded. */
  waitingMax: number;
  maxAgeMs: number;
  /** Ends the wait for a database that cannot be reached. */
  signal: AbortSignal;
}

/** How long results wait for a database that cannot be reached, so that its restart causes no repeated email. */
const PATIENCE_MS = 5 * 60_000;
const RETRY_MS = 500;

/**
 * Creates a buffer that collects results and records them in bulk, one recording at a time. A killed process loses the
 * results of emails that a server accepted: at most those waiting here (`waitingMax`), those being recorded (as many
 * again), and those in flight.
 */
export function createResultBuffer(options: ResultBufferOptions): ResultBuffer {
  let buffered: DeliveryResult[] = [];
  let timer: NodeJS.Timeout | undefined;
  let recording: Promise<void> | undefined;
  let failure: Error | undefined;

  /**
   * Records results and repeats that while the database is unavailable. Recording twice is harmless, because a row with
   * an outcome is not changed again. The outcome of a sent email must not be lost to a database outage, nor to a
   * deadlock with a burst of opens.
   */
  async function recordPatiently(results: DeliveryResult[]): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        await options.record(results);
        return;
      } catch (error) {
        if (!isDatabaseUnavailable(error) || options.signal.aborted || Date.now() > giveUpAt) throw error;
        await delay(RETRY_MS);
      }
    }
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (recording || buffered.length === 0 || failure !== undefined) return;
    const results = buffered;
    buffered = [];
    recording = recordPatiently(results).then(
      () => afterRecording(),
      (error: unknown) => {
        failure = error instanceof Error ? error : new Error(String(error));
        afterRecording();
      },
    );
  }

  function afterRecording(): void {
    recording = undefined;
    flushWhenDue();
  }

  function flushWhenDue(): void {
    if (buffered.length >= options.maxItems) flush();
    else if (buffered.length > 0) timer ??= setTimeout(flush, options.maxAgeMs);
  }

  return {
    add(result) {
      buffered.push(result);
      flushWhenDue();
    },
    async ready() {
      while (buffered.length >= options.waitingMax && recording) await recording;
    },
    async drain() {
      while (recording !== undefined || (buffered.length > 0 && failure === undefined)) {
        flush();
        await recording;
      }
      clearTimeout(timer);
      if (failure !== undefined) throw failure;
    },
    failure: () => failure,
  };
}
