import type { KeyObject } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Gather } from '../../../platform/gather.ts';

/** An ASCII text to be signed with a key. */
export interface SigningRequest {
  key: KeyObject;
  input: string;
}

/** The answer of a thread to a group: signatures in base64, in the order of the requests. */
export type SigningResult = { signatures: string[] } | { fault: string };

export interface SigningThreads {
  /**
   * Signs with RSA and SHA-256. `input` must be ASCII.
   * @returns the signature in base64
   */
  sign: (input: string, key: KeyObject) => Promise<string>;
}

/** A thread, with its groups that are under way, in order. */
interface SigningThread {
  worker: Worker;
  groups: PromiseWithResolvers<string[]>[];
}

/** A full group takes a thread some milliseconds. Its fixed cost is that of the messages between the threads. */
const GROUP_MAX = 8;
/** A thread gets its next group before it has answered the last one, so that it does not idle in between. */
const GROUPS_PER_THREAD = 2;

/**
 * Signs in threads, one per core, which are started when there is something to sign. An RSA signature takes about a
 * millisecond, which would block the main thread. The thread pool of Node.js would still cost the main thread a tenth
 * of that per signature. So under load a thread gets several texts at once. The threads do not keep the process alive.
 */
export function createSigningThreads(threadCount = availableParallelism()): SigningThreads {
  const threads = new Set<SigningThread>();

  function start(): SigningThread {
    const worker = new Worker(new URL('./signing-thread.ts', import.meta.url), { name: 'dkim', execArgv: [] });
    const thread: SigningThread = { worker, groups: [] };
    threads.add(thread);
    worker.on('message', (result: SigningResult) => {
      const group = thread.groups.shift();
      if (thread.groups.length === 0) worker.unref();
      if ('signatures' in result) group?.resolve(result.signatures);
      else group?.reject(new Error(result.fault));
    });
    worker.on('error', (error: unknown) => lose(thread, error));
    worker.on('exit', () => lose(thread, new Error('a signing thread has ended')));
    return thread;
  }

  /** Rejects the groups of a thread that ended. Another thread is started for the next ones. */
  function lose(thread: SigningThread, error: unknown): void {
    if (threads.delete(thread)) for (const group of thread.groups) group.reject(error);
  }

  /** The thread for the next group: an idle one, or a new one, or else the one with the fewest groups. */
  function next(): SigningThread {
    const [least] = [...threads].sort((a, b) => a.groups.length - b.groups.length);
    return least && (least.groups.length === 0 || threads.size >= threadCount) ? least : start();
  }

  const gather = new Gather<SigningRequest, string>({
    write(requests) {
      const { worker, groups } = next();
      const group = Promise.withResolvers<string[]>();
      groups.push(group);
      worker.ref();
      worker.postMessage(requests);
      return group.promise;
    },
    // One of the keys may be unable to sign.
    afterFault: (_, requests) => (requests.length > 1 ? 'split' : 'fail'),
    itemsMax: GROUP_MAX,
    parallel: GROUPS_PER_THREAD * threadCount,
  });
  return { sign: (input, key) => gather.add({ key, input }) };
}

let shared: SigningThreads | undefined;

/** The threads of this process. All domains share them. */
export function signingThreads(): SigningThreads {
  shared ??= createSigningThreads();
  return shared;
}
