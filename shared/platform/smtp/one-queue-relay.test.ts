import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { eventually } from '../../../tests/support/eventually.ts';
import { createSmtpPool } from './smtp-pool.ts';

const RAW = Buffer.from('From: a@example.com\r\nTo: b@example.org\r\nSubject: Test\r\n\r\nHello\r\n');
/** So long that what else the machine does changes the rate by little. */
const MESSAGE_MS = 100;
const URGENT = 'urgent@example.org';

/** A relay that handles one message at a time, over whatever connection it came. */
async function startRelay() {
  let queue = Promise.resolve();
  let waiting = 0;
  const aheadOfUrgent: number[] = [];
  const server = new SMTPServer({
    ...{ disabledCommands: ['AUTH', 'STARTTLS'], disableReverseLookup: true, logger: false, closeTimeout: 200 },
    onData(stream, { envelope }, callback) {
      stream.resume().once('end', () => {
        if (envelope.rcptTo[0]?.address === URGENT) aheadOfUrgent.push(waiting);
        waiting += 1;
        queue = queue.then(async () => {
          await delay(MESSAGE_MS);
          waiting -= 1;
          callback(null);
        });
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, aheadOfUrgent, close };
}

it('An urgent message comes to stand behind few of a campaign where a relay handles one at a time', async () => {
  const relay = await startRelay();
  const pool = createSmtpPool({ urls: [relay.url], maxConnections: 20, logger: { warn: () => undefined } });
  let isOver = false;
  const lanes = Array.from({ length: pool.capacity }, async () => {
    while (!isOver) await pool.send({ from: 'a@example.com', to: 'b@example.org' }, RAW, { urgency: 'campaign' });
  });
  const ahead = async () => {
    await pool.send({ from: 'a@example.com', to: URGENT }, RAW);
    return relay.aheadOfUrgent.at(-1) ?? 0;
  };
  try {
    await eventually(async () => (await ahead()) >= 10);
    // A trial that other work on the machine disturbs is repeated after a minute.
    await expect(eventually(async () => (await ahead()) <= 5, 150_000)).resolves.toBe(true);
  } finally {
    isOver = true;
    await Promise.all(lanes);
    await pool.close();
    await relay.close();
  }
}, 200_000);
