import { setTimeout as delay } from 'node:timers/promises';
import { queryOne, sql } from '../shared/database/sql.ts';
import { number } from '../shared/database/tables.ts';
import { quantile, round, type Bench, type BenchContext } from './harness/contract.ts';
import { sendHttpLoad } from './harness/http-load.ts';
import { cpuSince, measureEndpoint, POOL_SIZE, readCpu, REQUEST_OPTIONS } from './harness/request-bench.ts';
import type { Sink } from './harness/sink.ts';
import type { BenchStack } from './harness/stack.ts';

const LOW_LOAD_CONNECTIONS = 16;
/** New processes need several times the CPU time for a request. */
const LOW_LOAD_WARM_UP_SECONDS = 5;
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

/** The number of deliveries that were started. Fewer deliveries of the same emails mean less work for Temporal. */
async function countDeliveries(stack: BenchStack): Promise<number> {
  const row = await queryOne(stack.em(), sql`select count(distinct delivery_id) as count from email`, {
    count: number,
  });
  return row?.count ?? 0;
}

/** Waits until no mail is left to be sent; answers how many went out. */
export async function waitUntilDelivered(stack: BenchStack): Promise<number> {
  const deadline = Date.now() + DELIVERED_TIMEOUT_MS;
  for (;;) {
    const row = await queryOne(
      stack.em(),
      sql`select count(*) filter (where status in ('PENDING', 'SENDING')) as pending,
        count(*) filter (where status = 'SENT') as sent from email`,
      { pending: number, sent: number },
    );
    if (row?.pending === 0) return row.sent;
    if (Date.now() > deadline) throw new Error(`${row?.pending} emails have not been sent`);
    await delay(100);
  }
}

/**
 * Measures the time from the first octet of a request to the last octet of its email at the SMTP server, and the cost.
 */
async function measureDelay(context: BenchContext, stack: BenchStack, sink: Sink) {
  const load = (firstNumber: number, seconds: number) =>
    sendHttpLoad(context, {
      url: stack.apiUrl,
      path: '/v1/send',
      key: stack.project.secretKey,
      body: bodyFor(stack),
      firstNumber,
      connections: LOW_LOAD_CONNECTIONS,
      durationMs: seconds * 1000,
      requestsPerSecond: context.number('low-load'),
    });
  const { nextNumber } = await load(0, LOW_LOAD_WARM_UP_SECONDS);
  await waitUntilDelivered(stack);
  await sink.reset();
  const deliveriesBefore = await countDeliveries(stack);
  const cpuBefore = readCpu(context, stack, stack.pids.api ?? 0);
  const measured = await load(nextNumber, context.number('seconds'));
  await waitUntilDelivered(stack);
  const cpuMs = cpuSince(cpuBefore, readCpu(context, stack, stack.pids.api ?? 0), {
    nextNumber: measured.requests,
  });
  const arrivals = await sink.arrivals();
  const delays = measured.sentAt.map(([number, at]) => {
    const arrivedAt = arrivals.get(`reader${String(number).padStart(9, '0')}@example.com`);
    if (arrivedAt === undefined) throw new Error(`Mail ${number} was accepted and never sent.`);
    return arrivedAt - at;
  });
  const deliveries = (await countDeliveries(stack)) - deliveriesBefore;
  return { delays, cpuMs, mailsPerDelivery: delays.length / Math.max(1, deliveries) };
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
    const { delays, cpuMs, mailsPerDelivery } = await measureDelay(context, stack, sink);
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
      toMailboxCpuMsPerMail: cpuMs,
      toMailboxMailsPerDelivery: round(mailsPerDelivery, 1),
      mailsPerDelivery: round(nextNumber / ((await countDeliveries(stack)) - deliveriesBefore), 1),
      backlogSeconds: round(backlogSeconds, 1),
      lost: nextNumber - (summary?.recipients ?? 0),
      duplicates: summary?.duplicates,
    };
  },
};
