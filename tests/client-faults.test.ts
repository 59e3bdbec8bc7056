import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Everpost, type Sent } from '../clients/typescript/src/index.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { startFaultyProxy, type FaultyProxy } from './support/faulty-proxy.ts';
import { FROM, startSendApi, type SendApi } from './support/send.ts';

const SEND_COUNT = 300;
const SENDERS = 15;

let app: SendApi;
let proxy: FaultyProxy;
beforeAll(async () => {
  app = await startSendApi();
  proxy = await startFaultyProxy(app.url, 0.2);
});
afterAll(async () => {
  await proxy.close();
  await app.stop();
});

async function countOf(table: 'email' | 'event'): Promise<number> {
  const text = table === 'email' ? sql`select from email` : sql`select from event where name = 'order.paid'`;
  return (await query(app.em(), text)).length;
}

/** Does something `SEND_COUNT` times, by several senders at once. */
async function eachSend(work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (next < SEND_COUNT) await work(next++);
    }),
  );
}

it('the client sends and tracks exactly once while a fifth of the requests get a 429, a 503 or a cut connection', async () => {
  const { secretKey, publicKey } = app.keys;
  const everpost = new Everpost({ url: proxy.url, secretKey, publicKey, maxRetries: 10 });
  const sent: Sent[] = [];
  await eachSend(async (index) => {
    const email = `client-${index}@mail.test`;
    sent.push(await everpost.send({ to: email, from: FROM, subject: 'Hello', body: '<p>Hi</p>' }));
    if (index % 3 === 0) await everpost.track({ email, event: 'order.paid' });
  });
  expect(Math.min(...Object.values(proxy.counts))).toBeGreaterThan(10);
  expect(await countOf('email')).toBe(SEND_COUNT);
  expect(await countOf('event')).toBe(SEND_COUNT / 3);

  const lost = sent.filter(({ isAnswerLost }) => isAnswerLost);
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThanOrEqual(proxy.counts['cut after']);
  const ids = sent.flatMap(({ emails }) => emails.map(({ email }) => email));
  expect(new Set(ids).size).toBe(SEND_COUNT - lost.length);
});
