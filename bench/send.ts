import { setTimeout as delay } from 'node:timers/promises';
import { queryOne, sql } from '../shared/domain/database/sql.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import { sendHttpLoad } from './harness/http-load.ts';
import { measureEndpoint, POOL_SIZE, REQUEST_OPTIONS } from './harness/request-bench.ts';
import type { Sink } from './harness/sink.ts';
import type { BenchStack } from './harness/stack.ts';

const LOW_LOAD_CONNECTIONS = 16;
const DELIVERED_TIMEOUT_MS = 300_000;

export function bodyFor(stack: BenchStack): string {
  return JSON.stringify({
    to: 'reader{n}@example.com',
    subject: 'Your order {n}',
    body: `<p>Dear {{name ?? "reader"}}, your order {n} is on its way.</p>${'<p>Thank you for buying from us.</p>'.repeat(10)}`,
    from: { name: 'Shop', email: `orders@${stack.project.domain}` },
    data: { name: 'Reader' },
  });
}

/** Deliveries that were started: the fewer, the less Temporal has to do for the same emails. */
async function countDeliveries(stack: BenchStack): Promise<number> {
  const row = await queryOne<{ count: number }>(
    stack.em(),
    sql`select count(distinct delivery_id) as count from email`,
  );
  return row?.count ?? 0;
}

/** Waits until no mail is left to be sent; answers how many went out. */
export async function waitUntilDelivered(stack: BenchStack): Promise<number> {
  const deadline = Date.now() + DELIVERED_TIMEOUT_MS;
  for (;;) {
    const row = await queryOne<{ pending: number; sent: number }>(
      stack.em(),
      sql`select count(*) filter (where status in ('PENDING', 'SENDING')) as pending,
        count(*) filter (where status = 'SENT') as sent from email`,
    );
    if (row?.pending === 0) return row.sent;
    if (Date.now() > deadline) throw new Error(`${row?.pending} mails have not been sent`);
    await delay(100);
  }
}

/** From the first octet of the request to the last octet of the mail at the SMTP server. */
async function measureDelay(context: BenchContext, stack: BenchStack, sink: Sink): Promise<number[]> {
  await sink.reset();
  const load = await sendHttpLoad(context, {
    url: stack.apiUrl,
    path: '/v1/send',
    key: stack.project.secretKey,
    body: bodyFor(stack),
    firstNumber: 0,
    connections: LOW_LOAD_CONNECTIONS,
    durationMs: context.number('seconds') * 1000,
    requestsPerSecond: context.number('low-load'),
  });
  await waitUntilDelivered(stack);
  const arrivals = await sink.arrivals();
  return load.sentAt.map(([number, at]) => {
    const arrivedAt = arrivals.get(`reader${String(number).padStart(9, '0')}@example.com`);
    if (arrivedAt === undefined) throw new Error(`Mail ${number} was accepted and never sent.`);
    return arrivedAt - at;
  });
}

export const bench: Bench = {
  description: 'POST /v1/send accepted a second, against a bare Express handler with one INSERT; time to the mailbox.',
  options: {
    ...REQUEST_OPTIONS,
    'low-load': { type: 'string', default: '50' },
  },
  async run(context) {
    const sink = await context.startSink();
    const stack = await context.startStack({ smtpUrl: sink.url, env: { DATABASE_POOL_SIZE: POOL_SIZE } });

    context.progress(`Measuring the time to the mailbox at ${context.number('low-load')} requests a second`);
    const delays = await measureDelay(context, stack, sink);
    await sink.reset();
    const deliveriesBefore = await countDeliveries(stack);

    const { result, nextNumber } = await measureEndpoint(context, stack, 'send', {
      path: '/v1/send',
      key: stack.project.secretKey,
      body: bodyFor(stack),
    });
    context.progress('Waiting until everything is delivered');
    const waitingSince = performance.now();
    await waitUntilDelivered(stack);
    const backlogSeconds = (performance.now() - waitingSince) / 1000;
    const summary = await sink.summary();
    return {
      ...result,
      toMailboxP50Ms: round(quantile(delays, 0.5), 1),
      toMailboxP99Ms: round(quantile(delays, 0.99), 1),
      toMailboxMails: delays.length,
      toMailboxMailsPerDelivery: round(delays.length / deliveriesBefore, 1),
      mailsPerDelivery: round(nextNumber / ((await countDeliveries(stack)) - deliveriesBefore), 1),
      backlogSeconds: round(backlogSeconds, 1),
      lost: nextNumber - (summary?.recipients ?? 0),
      duplicates: summary?.duplicates,
    };
  },
};
