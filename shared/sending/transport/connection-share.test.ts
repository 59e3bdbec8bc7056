import { describe, expect, it } from '@jest/globals';
import { useCleanUps } from '../../../tests/support/clean-ups.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { createFaultyRelay, type FaultyRelay } from '../../../tests/support/faulty-relay.ts';
import { ConnectionShare } from './connection-share.ts';
import { URGENCIES, type SmtpUrgency } from './message-queue.ts';
import { ServerHealth, type PoolServer } from './server-health.ts';
import { createSmtpPool, type SmtpPool } from './smtp-pool.ts';
import { parseSmtpUrl } from './smtp-url.ts';

const FROM = 'news@example.com';
const RAW = 'Subject: Test\r\n\r\nHello\r\n';
const logger = { warn: () => undefined };

/** The number of `max` connections that each urgency gets while all others are idle. */
function sharesOf(max: number, servers = 1): Record<string, number> {
  const entries = URGENCIES.map((urgency) => {
    const urls = Array.from({ length: servers }, (_, index) => parseSmtpUrl(`smtp://127.0.0.1:${index + 1}`));
    const health = new ServerHealth(urls, logger);
    const share = new ConnectionShare(max, health);
    for (let index = 0; index < max; index += 1) health.opening(health.servers[index % servers] as PoolServer);
    let count = 0;
    for (let index = 0; index < max; index += 1) {
      const server = health.servers[index % servers] as PoolServer;
      if (!share.mayCarry(server, urgency, undefined)) continue;
      share.changed(server, undefined, urgency);
      count += 1;
    }
    return [urgency, count];
  });
  return Object.fromEntries(entries);
}

describe('ConnectionShare', () => {
  it('reserves a quarter for messages more urgent than campaigns, and half of that for transactional ones', () => {
    expect(sharesOf(20)).toEqual({ transactional: 20, automation: 17, campaign: 15 });
    expect(sharesOf(5)).toEqual({ transactional: 5, automation: 4, campaign: 4 });
    expect(sharesOf(2)).toEqual({ transactional: 2, automation: 1, campaign: 1 });
    expect(sharesOf(1)).toEqual({ transactional: 1, automation: 1, campaign: 1 });
  });

  it('reserves a share of the connections of each server', () => {
    expect(sharesOf(20, 2)).toEqual({ transactional: 20, automation: 17, campaign: 15 });
    expect(sharesOf(4, 2)).toEqual({ transactional: 4, automation: 2, campaign: 2 });
  });
});

const cleanUp = useCleanUps();

async function start(maxConnections: number, messageMs: number): Promise<{ pool: SmtpPool; relay: FaultyRelay }> {
  const relay = await createFaultyRelay({ messageMs });
  const pool = createSmtpPool({ urls: [relay.url], maxConnections, logger });
  cleanUp(
    () => relay.close(),
    () => pool.close({ timeoutMs: 100 }),
  );
  return { pool, relay };
}

/** Queues a number of messages of an urgency until the test ends; their outcome does not matter. */
function saturate(pool: SmtpPool, urgency: SmtpUrgency, count: number): void {
  for (let index = 0; index < count; index += 1) {
    void pool.send({ from: FROM, to: `${urgency}-${index}@example.org` }, RAW, { urgency }).catch(() => undefined);
  }
}

describe('a slow relay that a campaign keeps busy', () => {
  const MESSAGE_MS = 50;
  const CONNECTIONS = 8;

  it('takes transactional email first, however many messages wait', async () => {
    const { pool, relay } = await start(CONNECTIONS, MESSAGE_MS);
    saturate(pool, 'campaign', 5_000);
    saturate(pool, 'automation', 500);
    await eventually(async () => relay.deliveries().size >= CONNECTIONS);
    const before = relay.deliveries().size;
    await pool.send({ from: FROM, to: 'urgent@example.org' }, RAW);
    // Before it come only the messages that the relay was handling, one per connection.
    const position = [...relay.deliveries().keys()].indexOf('urgent@example.org');
    expect(position - before).toBeLessThanOrEqual(CONNECTIONS);
  });

  it('serves the more urgent kinds first when there is one connection', async () => {
    const { pool, relay } = await start(1, 5);
    saturate(pool, 'campaign', 5);
    saturate(pool, 'automation', 3);
    saturate(pool, 'transactional', 2);
    await eventually(async () => relay.deliveries().size === 10);
    const kinds = [...relay.deliveries().keys()].map((address) => address.split('-')[0]);
    expect(kinds).toEqual([
      ...Array(2).fill('transactional'),
      ...Array(3).fill('automation'),
      ...Array(5).fill('campaign'),
    ]);
  });
});
