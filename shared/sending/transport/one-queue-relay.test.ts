import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { eventually } from '../../../tests/support/eventually.ts';
import { createSmtpPool } from './smtp-pool.ts';

const RAW = Buffer.from('From: a@example.com\r\nTo: b@example.org\r\nSubject: Test\r\n\r\nHello\r\n');
const MESSAGE_MS = 100;
const CONNECTIONS = 20;
/** A quarter of the connections is reserved for urgent messages. */
const OF_CAMPAIGNS = 15;
const URGENT = 'urgent@example.org';

/**
 * A relay that handles one message at a time, over all connections. The clock of the test moves only by the time that a
 * message takes, so the speed of the machine does not matter.
 */
async function startRelay() {
  const steps = new EventEmitter();
  let queue: Promise<unknown> = once(steps, 'begin');
  let waiting = 0;
  let nowMs = 0;
  const aheadOfUrgent: number[] = [];
  const server = new SMTPServer({
    ...{ disabledCommands: ['AUTH', 'STARTTLS'], disableReverseLookup: true, logger: false, closeTimeout: 200 },
    onData(stream, { envelope }, callback) {
      stream.resume().once('end', () => {
        if (envelope.rcptTo[0]?.address === URGENT) aheadOfUrgent.push(waiting);
        waiting += 1;
        queue = queue.then(async () => {
          nowMs += MESSAGE_MS;
          waiting -= 1;
          const noticed = once(steps, 'noticed');
          callback(null);
          await noticed;
        });
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    aheadOfUrgent,
    now: () => nowMs,
    waiting: () => waiting,
    begin: () => steps.emit('begin'),
    /** The sender has the outcome of the previous message, and the next one may be handled. */
    noticed: () => steps.emit('noticed'),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

it('An urgent message waits behind few messages of a campaign at a relay that handles one at a time', async () => {
  const relay = await startRelay();
  const { url, now, aheadOfUrgent } = relay;
  const pool = createSmtpPool({ urls: [url], maxConnections: CONNECTIONS, now, logger: { warn: () => undefined } });
  let isOver = false;
  const lanes = Array.from({ length: pool.capacity }, async () => {
    while (!isOver) {
      await pool.send({ from: 'a@example.com', to: 'b@example.org' }, RAW, { urgency: 'campaign' });
      relay.noticed();
    }
  });
  const sendUrgent = async () => {
    await pool.send({ from: 'a@example.com', to: URGENT }, RAW);
    relay.noticed();
  };
  try {
    await eventually(() => Promise.resolve(relay.waiting() === OF_CAMPAIGNS));
    const first = sendUrgent();
    await eventually(() => Promise.resolve(aheadOfUrgent.length === 1));
    relay.begin();
    await first;
    expect(aheadOfUrgent).toEqual([OF_CAMPAIGNS]);
    await eventually(async () => {
      await sendUrgent();
      return (aheadOfUrgent.at(-1) ?? OF_CAMPAIGNS) <= 5;
    });
  } finally {
    relay.begin();
    isOver = true;
    await Promise.all(lanes);
    await pool.close();
    await relay.close();
  }
});
