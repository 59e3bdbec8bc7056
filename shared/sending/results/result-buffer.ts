import { isDatabaseFault } from '../../database/database-errors.ts';
import type { DeliveryResult } from '../ports.ts';
import { recordInParts } from './record-in-parts.ts';

export interface ResultBuffer {
  /** Adds a result. It is recorded within `maxAgeMs`, or as soon as the current recording is done. */
  add: (result: DeliveryResult) => void;
  /** Resolves when few enough results wait to be recorded. Await it before sending more email. */
  ready: () => Promise<void>;
  /**
   * Records the remaining results. While PostgreSQL cannot, it waits until `signal` is aborted; then the results are
   * kept.
   * @throws the error of a recording, now or earlier
   */
  drain: () => Promise<void>;
  /** The error of a recording that failed; after it no more email may be sent. */
  failure: () => unknown;
}

export interface ResultBufferOptions {
  /** Records results; it may be called again with the same ones. */
  record: (results: DeliveryResult[]) => Promise<void>;
  /** Keeps results that cannot be recorded before the attempt ends. */
  keep: (results: DeliveryResult[]) => Promise<void>;
  /**
   * Called each time that PostgreSQL cannot record results, with its error. The attempt is alive, but waits; `ended`
   * resolves when the results are recorded or kept.
   */
  onWait?: (error: unknown, ended: Promise<void>) => void;
  /** Recording begins when this many wait; while others are being recorded, sending pauses. */
  maxItems: number;
  maxAgeMs: number;
  /** Aborted when the attempt must end. */
  signal: AbortSignal;
}

const RETRY_MS = 500;
/** How long a recording may take after the signal was aborted. It may be waiting for a lock. */
const LAST_CHANCE_MS = 2_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Creates a buffer that collects results and records them in bulk, one recording at a time. The results of emails that
 * a server accepted survive everything but the loss of the process, which loses at most those waiting here
 * (`maxItems`), those being recorded (as many again), and those in flight.
 */
export function createResultBuffer(options: ResultBufferOptions): ResultBuffer {
  const { signal } = options;
  let buffered: DeliveryResult[] = [];
  let timer: NodeJS.Timeout | undefined;
  let recording: Promise<void> | undefined;
  let failure: Error | undefined;
  let isTooLate = false;
  let abort = (): void => undefined;
  const aborted = new Promise<void>((resolve) => (abort = resolve));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);

  /** Records results. @returns false when the signal was aborted and PostgreSQL did not answer soon */
  function recordInTime(results: DeliveryResult[]): Promise<boolean> {
    const recorded = options.record(results).then(() => true);
    // The loser of the race may still fail.
    recorded.catch(() => undefined);
    return Promise.race([recorded, aborted.then(() => pause(LAST_CHANCE_MS)).then(() => false)]);
  }

  /**
   * Records results and repeats that while PostgreSQL cannot serve: the outcome of a sent email must be lost neither to
   * an outage nor to a deadlock with a burst of opens. Recording twice is harmless, because a row with an outcome is not
   * changed again. Once the attempt must end, the results are kept, unless PostgreSQL takes them at once.
   */
  async function recordPatiently(results: DeliveryResult[], ended: Promise<void>): Promise<void> {
    while (!isTooLate) {
      try {
        if (await recordInTime(results)) return;
        isTooLate = true;
      } catch (error) {
        if (!isDatabaseFault(error)) throw error;
        options.onWait?.(error, ended);
        if (signal.aborted) isTooLate = true;
        else await Promise.race([pause(RETRY_MS), aborted]);
      }
    }
    await options.keep(results);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (recording || buffered.length === 0 || failure !== undefined) return;
    const results = buffered;
    buffered = [];
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    recording = recordInParts(results, (part) => recordPatiently(part, ended))
      .catch((error: unknown) => {
        failure = error instanceof Error ? error : new Error(String(error));
      })
      .then(end)
      .then(afterRecording);
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
      while (buffered.length >= options.maxItems && recording) await recording;
    },
    async drain() {
      while (recording !== undefined || (buffered.length > 0 && failure === undefined)) {
        flush();
        await recording;
      }
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      if (failure !== undefined) throw failure;
    },
    failure: () => failure,
  };
}
