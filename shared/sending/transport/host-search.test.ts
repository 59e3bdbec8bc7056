import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../../tests/support/fake-clock.ts';
import { SmtpUnavailableError } from './errors.ts';
import { Pool } from './pool.ts';
import type { SmtpServerOptions } from './smtp-url.ts';

const clock = useFakeClock();
const MINUTE = 60_000;

/** A pool of hosts in order, each of which takes its time before the connection fails. */
function createDeadPool(names: readonly string[], failsAfterMs: number) {
  const asked: string[] = [];
  const pool = new Pool({
    servers: names.map((host, preference) => ({ host, label: 'source', preference }) as SmtpServerOptions),
    maxConnections: 2,
    logger: { warn: () => undefined },
    backoff: { minMs: 0, maxMs: 0 },
    open: ({ host }) => {
      asked.push(host);
      const error = new SmtpUnavailableError(host);
      return new Promise((_resolve, reject) => setTimeout(() => reject(error), failsAfterMs));
    },
  });
  const send = () => pool.send({ from: 'a@sender.test', to: 'b@mail.test' }, 'x', {}).catch((error: unknown) => error);
  return { asked, send };
}

describe('the search for a host of a domain', () => {
  it('asks each host once and in order, also when the pause of the first is over before the last was asked', async () => {
    const { asked, send } = createDeadPool(['a', 'b', 'c', 'd'], MINUTE / 2);
    for (const times of [1, 2]) {
      const failed = send();
      await clock.pass(2 * MINUTE);
      expect(asked).toHaveLength(4 * times);
      expect(await failed).toMatchObject({ message: 'd' });
    }
    expect(asked.join('')).toBe('abcdabcd');
  });

  it('ends after two hosts that take as long as allowed to greet, so that other work need not wait for it', async () => {
    const { asked, send } = createDeadPool(['a', 'b', 'c', 'd'], 5 * MINUTE);
    const failed = send();
    await clock.pass(10 * MINUTE);
    expect(asked).toEqual(['a', 'b']);
    expect(await failed).toBeInstanceOf(SmtpUnavailableError);
  });
});
