import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Everpost, type Sent } from '../clients/typescript/src/index.ts';
import { sql } from '../shared/database/sql.ts';
import { queryOne } from './support/rows.ts';
import { createApiProcess, type ApiProcess } from './support/api-process.ts';
import { startFaultyProxy, type FaultyProxy } from './support/faulty-proxy.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

/** `CLIENT_SENDS=10000 npm test -- client-kills` is the full run. */
const SENDS = Number(process.env['CLIENT_SENDS'] ?? 400);
const SENDERS = 100;
const KILLS = Math.max(2, SENDS / 1_000);
const PATIENCE_MS = 60_000 + SENDS * 20;

let stack: TestStack;
let api: ApiProcess;
let proxy: FaultyProxy;
beforeAll(async () => {
  stack = await startTestStack({
    config: { API_RATE_LIMIT_PER_MINUTE: 10_000_000 },
    sink: { keepMessages: false },
  });
  api = await createApiProcess(stack.config, stack.temporal);
  api.start();
  proxy = await startFaultyProxy(api.url, 0.2);
});
afterAll(async () => {
  await proxy.close();
  await api.kill();
  await stack.stop();
});

it(
  'the client makes one email of each send while a fifth of the requests fail and the API is killed again and again',
  async () => {
    const everpost = new Everpost({ url: proxy.url, ...stack.keys, maxRetries: 30 });
    const sent: Sent[] = [];
    let next = 0;
    async function sender(): Promise<void> {
      while (next < SENDS) {
        const to = `client-${next++}@mail.test`;
        sent.push(await everpost.send({ to, from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' }));
      }
    }
    async function killer(): Promise<void> {
      for (let kill = 1; kill <= KILLS; kill++) {
        await eventually(async () => sent.length >= (SENDS * kill) / (KILLS + 1), PATIENCE_MS);
        await api.kill();
        api.start();
      }
    }
    await Promise.all([killer(), ...Array.from({ length: SENDERS }, sender)]);

    expect(sent).toHaveLength(SENDS);
    expect(Object.values(proxy.counts).reduce((sum, count) => sum + count)).toBeGreaterThan(SENDS * 0.2);
    const stored = await queryOne(
      stack.em(),
      sql`select count(*)::int as emails, count(distinct to_address)::int as addresses from email`,
    );
    expect(stored).toEqual({ emails: SENDS, addresses: SENDS });
    await eventually(async () => stack.sink.messageCount() >= SENDS, PATIENCE_MS);
    const counts = [...stack.sink.recipientCounts().values()];
    expect([counts.length, Math.max(...counts)]).toEqual([SENDS, 1]);
  },
  3 * PATIENCE_MS,
);
