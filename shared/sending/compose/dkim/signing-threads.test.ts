import { execFile } from 'node:child_process';
import { generateKeyPairSync, verify } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { createSigningThreads } from './signing-threads.ts';

const pairs = [0, 1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));

describe('signing threads', () => {
  it('sign each text with its own key when many texts wait', async () => {
    const threads = createSigningThreads(2);
    const asked = Array.from({ length: 200 }, (_, index) => ({
      input: `text ${index}`,
      pair: pairs[(index % 7) % 3]!,
    }));
    const signatures = await Promise.all(asked.map(({ input, pair }) => threads.sign(input, pair.privateKey)));
    const isGenuine = asked.map(({ input, pair }, index) =>
      verify('sha256', Buffer.from(input), pair.publicKey, Buffer.from(signatures[index]!, 'base64')),
    );
    expect(isGenuine).toEqual(asked.map(() => true));
  });

  it('reject a text that a key cannot sign, and sign the others', async () => {
    const threads = createSigningThreads(1);
    const [good, bad] = [pairs[0]!.privateKey, pairs[1]!.publicKey];
    const results = await Promise.allSettled([bad, good, bad, bad, good].map((key) => threads.sign('text', key)));
    expect(results.map((result) => result.status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
  });

  it('keep a process alive as long as they sign, and no longer', async () => {
    const module = fileURLToPath(new URL('./signing-threads.ts', import.meta.url));
    const script = `
      import { generateKeyPairSync } from 'node:crypto';
      import { createSigningThreads } from ${JSON.stringify(module)};
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      createSigningThreads().sign('text', privateKey).then((signature) => console.log(signature.length));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    expect(stdout.trim()).toBe('344');
  });
});
