import { sign } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { SigningRequest, SigningResult } from './signing-threads.ts';

function signAll(requests: SigningRequest[]): SigningResult {
  try {
    return {
      signatures: requests.map(({ key, input }) =>
        sign('sha256', Buffer.from(input, 'latin1'), key).toString('base64'),
      ),
    };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'the key cannot sign' };
  }
}

/** The thread signs group by group, and ends with its process. */
parentPort?.on('message', (requests: SigningRequest[]) => parentPort?.postMessage(signAll(requests)));
