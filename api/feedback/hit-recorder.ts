import type { MailHit } from '../../shared/domain/emails/tracking.ts';

/** Takes a hit; resolves when it has been recorded, rejects when it could not be. */
export type HitRecorder = (hit: MailHit) => Promise<void>;

interface Waiting {
  hit: MailHit;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

const BATCH_MAX = 200;

/**
 * Records hits one transaction after another, each with all that have come in during the one before. Alone, a hit waits
 * for nothing; in a rush, a commit and the lock on the campaign's counters are shared by many.
 */
export function createHitRecorder(record: (hits: MailHit[]) => Promise<void>): HitRecorder {
  let waiting: Waiting[] = [];
  let isRecording = false;

  async function run(): Promise<void> {
    isRecording = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      waiting = waiting.slice(BATCH_MAX);
      try {
        await record(batch.map((item) => item.hit));
        for (const item of batch) item.resolve();
      } catch (error) {
        for (const item of batch) item.reject(error);
      }
    }
    isRecording = false;
  }

  return (hit) =>
    new Promise((resolve, reject) => {
      waiting.push({ hit, resolve, reject });
      if (!isRecording) void run();
    });
}
