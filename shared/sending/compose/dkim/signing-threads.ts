import type { KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** The input of a thread: ASCII texts to be signed with one key. */
export interface SigningBatch {
  key: KeyObject;
  inputs: string[];
}

/** The output of a thread: signatures in base64, in the order of the inputs. */
export type SigningResult = { signatures: string[] } | { fault: string };

interface SigningRequest {
  key: KeyObject;
  input: string;
  resolve: (signature: string) => void;
  reject: (error: Error) => void;
}

interface SigningThread {
  worker: Worker;
  /** The batches that the thread has not answered yet, in order. */
  batches: SigningRequest[][];
}

export interface SigningThreads {
  /**
   * Signs with RSA and SHA-256. `input` must be ASCII.
   * @returns the signature in base64
   */
  sign: (input: string, key: KeyObject) => Promise<string>;
}

/**
 * A batch takes a thread about ten milliseconds. Texts that arrive meanwhile are signed by other threads, or in the
 * next batch.
 */
const BATCH_MAX = 16;
/** A thread gets its next batch before it has answered the last one, so that it does not idle in between. */
const BATCHES_MAX = 2;
/** Fewer texts wait until a thread is free, because each batch has a fixed cost. */
const AHEAD_MIN = 4;

/**
 * Signs in threads, one per core, which are started when there is something to sign. An RSA signature takes about a
 * millisecond, which would block the main thread. The thread pool of Node.js would still cost the main thread a tenth
 * of that per signature. So under load a thread gets several texts at once. The threads do not keep the process alive.
 */
export function createSigningThreads(threadCount = availableParallelism()): SigningThreads {
  const threads = new Set<SigningThread>();
  let queue: SigningRequest[] = [];
  let isScheduled = false;

  function start(): SigningThread {
    const worker = new Worker(new URL('./signing-thread.ts', import.meta.url), { name: 'dkim', execArgv: [] });
    const thread: SigningThread = { worker, batches: [] };
    threads.add(thread);
    worker.on('message', (result: SigningResult) => finish(thread, result));
    worker.on('error', (error: unknown) => lose(thread, error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => lose(thread, new Error('a signing thread has ended')));
    return thread;
  }

  function finish(thread: SigningThread, result: SigningResult): void {
    const requests = thread.batches.shift() ?? [];
    if (thread.batches.length === 0) thread.worker.unref();
    for (const [index, request] of requests.entries()) {
      const signature = 'signatures' in result ? result.signatures[index] : undefined;
      if (signature === undefined)
        request.reject(new Error('fault' in result ? result.fault : 'a signature is missing'));
      else request.resolve(signature);
    }
    dispatch();
  }

  /** Rejects the requests of a thread that ended. Another thread is started for the next ones. */
  function lose(thread: SigningThread, error: Error): void {
    if (!threads.delete(thread)) return;
    for (const request of thread.batches.flat()) request.reject(error);
    dispatch();
  }

  /** The thread for the next batch: an idle one, or a new one, or else the one with the fewest batches. */
  function next(): SigningThread | undefined {
    let least: SigningThread | undefined;
    for (const thread of threads) {
      if (!least || thread.batches.length < least.batches.length) least = thread;
    }
    if (least?.batches.length === 0) return least;
    if (threads.size < threadCount) return start();
    return least && least.batches.length < BATCHES_MAX && queue.length >= AHEAD_MIN ? least : undefined;
  }

  function dispatch(): void {
    while (queue.length > 0) {
      const thread = next();
      if (!thread) return;
      const key = queue[0]?.key;
      const otherAt = queue.findIndex((request) => request.key !== key);
      const sameKey = otherAt < 0 ? queue.length : otherAt;
      const count = Math.min(BATCH_MAX, Math.ceil(queue.length / threadCount), sameKey);
      const requests = queue.slice(0, count);
      queue = queue.slice(count);
      thread.batches.push(requests);
      thread.worker.ref();
      thread.worker.postMessage({ key, inputs: requests.map((request) => request.input) });
    }
  }

  return {
    sign(input, key) {
      return new Promise((resolve, reject) => {
        queue.push({ key, input, resolve, reject });
        if (isScheduled) return;
        isScheduled = true;
        // Requests of one turn of the event loop are sent together.
        setImmediate(() => {
          isScheduled = false;
          dispatch();
        });
      });
    },
  };
}

let shared: SigningThreads | undefined;

/** The threads of this process. All domains share them. */
export function signingThreads(): SigningThreads {
  shared ??= createSigningThreads();
  return shared;
}
