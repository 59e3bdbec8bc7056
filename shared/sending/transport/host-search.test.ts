import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../tests/support/eventually.ts';
import { useFakeClock } from '../../../tests/support/fake-clock.ts';
import { DELIVERY_RETRY_SECONDS_DEFAULT } from '../../pure/emails/delivery-retry.ts';
import { SmtpUnavailableError } from './errors.ts';
import { Pool } from './pool.ts';
import { ServerHealth } from './server-health.ts';
import type { SmtpServerOptions } from './smtp-url.ts';

const MINUTE = 60_000;
const logger = { warn: () => undefined };

const serversOf = (names: readonly string[]) =>
  names.map((host, preference) => ({ host, label: 'source', preference }) as SmtpServerOptions);

/** A pool of hosts in order, each of which takes its time before the connection fails. */
function createDeadPool(names: readonly string[], failsAfterMs: number) {
  const asked: string[] = [];
  const pool = new Pool({
    servers: serversOf(names),
    maxConnections: 2,
    logger,
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
  const clock = useFakeClock();

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

it('a host whose connections break comes after the next one for a while, then it is asked first again', async () => {
  const health = new ServerHealth(serversOf(['a', 'b']), logger, { minMs: 0, maxMs: 200 });
  const [first] = health.servers;
  if (!first) throw new Error('no host');
  for (let times = 0; times < 3; times += 1) {
    expect([health.pick()?.options.host, health.isPassedOver(first)]).toEqual(['a', false]);
    health.interrupted(first, {});
  }
  expect([health.pick()?.options.host, health.isPassedOver(first)]).toEqual(['b', true]);
  await eventually(() => Promise.resolve(health.pick() === first));
  expect(health.isPassedOver(first)).toBe(false);
});

it('the fourth try of an email alone meets the next host, because the first pauses are short', () => {
  const health = new ServerHealth(serversOf(['a', 'b']), logger, { minMs: 15_000, maxMs: 10 * MINUTE });
  const { now } = Date;
  let passedMs = 0;
  Date.now = () => now() + passedMs;
  const met: (string | undefined)[] = [];
  try {
    for (const seconds of DELIVERY_RETRY_SECONDS_DEFAULT.slice(0, 4)) {
      const server = health.pick();
      met.push(server?.options.host);
      if (server) health.interrupted(server, {});
      passedMs += seconds * 1_000;
    }
  } finally {
    Date.now = now;
  }
  expect(met.join('')).toBe('aaab');
});
