import type { KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/** The input of a thread: texts of octets to be signed with one key. */
export interface SigningBatch {
  key: KeyObject;
  inputs: string[];
}

/** Its output: base64, in the same order. */
export type SigningResult = { signatures: string[] } | { fault: string };

interface Job {
  key: KeyObject;
  input: string;
  resolve: (signature: string) => void;
  reject: (error: Error) => void;
}

interface SigningThread {
  worker: Worker;
  /** What it was given and has not answered, in this order. */
  batches: Job[][];
}

export interface SigningThreads {
  /**
   * Signs with RSA and SHA-256. `input` is ASCII.
   * @returns the signature in base64
   */
  sign: (input: string, key: KeyObject) => Promise<string>;
}

/** About ten milliseconds of work; texts that arrive meanwhile are signed by other threads, or together afterwards. */
const BATCH_MAX = 16;
/** A thread has the next batch before it has answered one, for it would do nothing until this one hears of it. */
const BATCHES_MAX = 2;
/** Fewer texts wait for a thread that is free, because each batch has its price. */
const AHEAD_MIN = 4;

/**
 * Signs in threads of its own, one per core, started when there is something to sign. RSA takes about a millisecond of
 * a core: on the main thread a process could do nothing else, and to hand each signature to Node's pool cost the main
 * thread about a tenth of that. Under load a thread is given several at once. The threads keep no process alive.
 */
export function createSigningThreads(threadCount = availableParallelism()): SigningThreads {
  const threads = new Set<SigningThread>();
  let queue: Job[] = [];
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
    const jobs = thread.batches.shift() ?? [];
    if (thread.batches.length === 0) thread.worker.unref();
    for (const [index, job] of jobs.entries()) {
      const signature = 'signatures' in result ? result.signatures[index] : undefined;
      if (signature === undefined) job.reject(new Error('fault' in result ? result.fault : 'a signature is missing'));
      else job.resolve(signature);
    }
    dispatch();
  }

  /** A thread that ends takes its batches with it; the next one is started in its place. */
  function lose(thread: SigningThread, error: Error): void {
    if (!threads.delete(thread)) return;
    for (const job of thread.batches.flat()) job.reject(error);
    dispatch();
  }

  /** The thread that is given the next batch: one that has nothing to do, or else one that has the least. */
  function next(): SigningThread | undefined {
    let least: SigningThread | undefined;
    for (const thread of threads) if (!least || thread.batches.length < least.batches.length) least = thread;
    if (least?.batches.length === 0) return least;
    if (threads.size < threadCount) return start();
    return least && least.batches.length < BATCHES_MAX && queue.length >= AHEAD_MIN ? least : undefined;
  }

  function dispatch(): void {
    while (queue.length > 0) {
      const thread = next();
      if (!thread) return;
      const key = queue[0]?.key;
      const otherAt = queue.findIndex((job) => job.key !== key);
      const sameKey = otherAt < 0 ? queue.length : otherAt;
      const count = Math.min(BATCH_MAX, Math.ceil(queue.length / threadCount), sameKey);
      const jobs = queue.slice(0, count);
      queue = queue.slice(count);
      thread.batches.push(jobs);
      thread.worker.ref();
      thread.worker.postMessage({ key, inputs: jobs.map((job) => job.input) });
    }
  }

  return {
    sign(input, key) {
      return new Promise((resolve, reject) => {
        queue.push({ key, input, resolve, reject });
        if (isScheduled) return;
        isScheduled = true;
        // Requests of one turn of the event loop go out together.
        setImmediate(() => {
          isScheduled = false;
          dispatch();
        });
      });
    },
  };
}

let shared: SigningThreads | undefined;

/** The threads of this process: cores are shared by all domains. */
export function signingThreads(): SigningThreads {
  shared ??= createSigningThreads();
  return shared;
}
