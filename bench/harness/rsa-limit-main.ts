import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { availableParallelism } from 'node:os';

/** Signs with RSA-2048 in the thread pool for three seconds on all cores, and prints how many signatures a second. */

const DURATION_MS = 3_000;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const input = randomBytes(1_000);

function signOnce(): Promise<void> {
  return new Promise((resolve, reject) => {
    sign('sha256', input, privateKey, (error) => (error ? reject(error) : resolve()));
  });
}

let count = 0;
const startedAt = performance.now();
await Promise.all(
  Array.from({ length: 2 * availableParallelism() }, async () => {
    while (performance.now() < startedAt + DURATION_MS) {
      await signOnce();
      count += 1;
    }
  }),
);
process.stdout.write(`${JSON.stringify({ perSecond: (count / (performance.now() - startedAt)) * 1000 })}\n`);
