import { isDatabaseFault, isRefusedValue } from '../../database/database-errors.ts';
import { Gather } from '../../platform/gather.ts';
import type { DeliveryResult } from '../ports.ts';
import { recordTogether } from './record-results.ts';

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
  /** Called with each email that a server accepted, at once. */
  onSent: (emailId: string) => void;
  /** Recording begins when this many wait; while others are being recorded, sending pauses. */
  maxItems: number;
  maxAgeMs: number;
  /** Aborted when the attempt must end. */
  signal: AbortSignal;
}

/** How long a recording may take after the signal was aborted. It may be waiting for a lock. */
const LAST_CHANCE_MS = 2_000;

/**
 * Creates a buffer that collects results and records them in bulk, one recording at a time. The results of emails that
 * a server accepted survive everything but the loss of the machine, which loses at most those waiting here
 * (`maxItems`), those being recorded (as many again), and those in flight. The list behind `onSent` survives the process.
 *
 * Results are recorded again while PostgreSQL cannot serve: the outcome of a sent email must be lost neither to an
 * outage nor to a deadlock with a burst of opens. Recording twice is harmless, because a row with an outcome is not
 * changed again. Once the attempt must end, the results are kept, unless PostgreSQL takes them at once.
 */
export function createResultBuffer(options: ResultBufferOptions) {
  const { signal } = options;
  /** Aborted when nothing more can be recorded. */
  const over = new AbortController();
  const left: DeliveryResult[] = [];
  let failure: Error | undefined;
  let outage: PromiseWithResolvers<undefined> | undefined;
  let writing = 0;
  let lastChance: NodeJS.Timeout | undefined;

  function limitRecording(): void {
    if (writing > 0) lastChance ??= setTimeout(() => over.abort(), LAST_CHANCE_MS);
  }
  signal.addEventListener('abort', limitRecording);

  function endOutage(): void {
    outage?.resolve(undefined);
    outage = undefined;
  }

  const gather = new Gather<DeliveryResult>({
    async write(results) {
      writing += 1;
      if (signal.aborted) limitRecording();
      try {
        const recorded = await recordTogether(results, options.record);
        endOutage();
        return recorded;
      } finally {
        writing -= 1;
        clearTimeout(lastChance);
        lastChance = undefined;
      }
    },
    afterFault(error, results) {
      if (isRefusedValue(error)) return results.length > 1 ? 'split' : 'fail';
      if (!isDatabaseFault(error)) return 'fail';
      outage ??= Promise.withResolvers();
      options.onWait?.(error, outage.promise);
      if (signal.aborted) over.abort();
      return 'repeat';
    },
    itemsMax: options.maxItems,
    waitMs: options.maxAgeMs,
    signal: over.signal,
  });

  return {
    /**
     * Adds a result. It is recorded within `maxAgeMs`, or as soon as the current recording is done.
     * @param recorded is called then
     */
    add(result: DeliveryResult, recorded?: () => void) {
      if (result.verdict === 'sent') options.onSent(result.emailId);
      if (failure !== undefined) return;
      gather.add(result).then(recorded, (error: unknown) => {
        if (over.signal.aborted) left.push(result);
        else failure ??= error instanceof Error ? error : new Error(String(error));
      });
    },
    /** Resolves when few enough results wait to be recorded. Await it before sending more email. */
    ready: () => gather.ready(),
    /**
     * Records the remaining results. While PostgreSQL cannot, it waits until `signal` is aborted; then the results are
     * kept.
     * @throws the error of a recording, now or earlier
     */
    async drain() {
      await gather.drain();
      signal.removeEventListener('abort', limitRecording);
      if (left.length > 0) await options.keep(left);
      endOutage();
      if (failure !== undefined) throw failure;
    },
    /** The error of a recording that failed; after it no more email may be sent. */
    failure: (): unknown => failure,
  };
}

export type ResultBuffer = ReturnType<typeof createResultBuffer>;
