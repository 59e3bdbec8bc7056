import { sign } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import type { SigningBatch, SigningResult } from './signing-threads.ts';

function signAll({ key, inputs }: SigningBatch): SigningResult {
  try {
    return { signatures: inputs.map((input) => sign('sha256', Buffer.from(input, 'latin1'), key).toString('base64')) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'the key cannot sign' };
  }
}

/** The thread signs batch by batch, and ends with its process. */
parentPort?.on('message', (batch: SigningBatch) => parentPort?.postMessage(signAll(batch)));
