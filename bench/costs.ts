import { setTimeout as delay } from 'node:timers/promises';
import { query, sql } from '../shared/database/sql.ts';
import { createAutomation, recordEvents, waitUntil } from './automations.ts';
import { createContacts, readCampaign } from './harness/campaign-audience.ts';
import { createCampaign } from './harness/bench-mail.ts';
import type { Bench, BenchContext } from './harness/contract.ts';
import { measureCost, measureIdle } from './harness/cost-meter.ts';
import { sendHttpLoad } from './harness/http-load.ts';
import type { BenchStack } from './harness/stack.ts';
import { bodyFor, waitUntilDelivered } from './send.ts';

const EVENT = 'bench_started';
const REQUEST_CONNECTIONS = 32;

interface Requests {
  path: string;
  key: string;
  body: string;
}

/** Sends requests for some seconds, as fast as they are answered. @returns how many */
async function sendRequests(
  context: BenchContext,
  stack: BenchStack,
  requests: Requests,
  seconds: number,
): Promise<number> {
  const { nextNumber } = await sendHttpLoad(context, {
    ...requests,
    url: stack.apiUrl,
    firstNumber: 0,
    connections: REQUEST_CONNECTIONS,
    durationMs: seconds * 1_000,
  });
  return nextNumber;
}

/** Sends a campaign to all contacts. @returns how many it went to */
export async function sendCampaignToAll(stack: BenchStack): Promise<number> {
  const id = await createCampaign(stack);
  await stack.call('POST', `/campaigns/${id}/send`, {});
  for (;;) {
    const row = await readCampaign(stack, id);
    if (row?.status === 'SENT') return row.sent;
    await delay(50);
  }
}

export const bench: Bench = {
  description:
    'What a request, an event, an execution and an email cost each component: CPU, rows, bytes, WAL, history.',
  options: {
    recipients: { type: 'string', default: '20000' },
    executions: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '6' },
  },
  async run(context) {
    const sink = await context.startSink();
    const stack = await context.startStack({ smtpUrl: sink.url });
    const seconds = context.number('seconds');
    const executions = context.number('executions');
    const recipients = context.number('recipients');
    const { publicKey, secretKey } = stack.project;
    const trackBody = JSON.stringify({ email: 'visitor{n}@example.com', event: 'viewed', data: { page: '/pricing' } });
    const track = { path: '/v1/track', key: publicKey, body: trackBody };
    const send = { path: '/v1/send', key: secretKey, body: bodyFor(stack) };
    await createAutomation(stack, EVENT);

    context.progress('Warming up');
    await sendRequests(context, stack, track, 2);
    await sendRequests(context, stack, send, 2);
    await waitUntilDelivered(stack);
    await recordEvents(stack, EVENT, 100);
    await waitUntil(stack, (row) => row.open === 0 && row.unsent === 0);
    const idle = await measureIdle(context, stack);

    const measure = (what: string, work: () => Promise<number>) => {
      context.progress(`Measuring ${what}`);
      return measureCost(context, stack, idle, work);
    };
    // The contacts are there already, as they mostly are.
    const event = await measure('events', () => sendRequests(context, stack, track, seconds));
    const transactional = await measure('transactional email', async () => {
      const requests = await sendRequests(context, stack, send, seconds);
      await waitUntilDelivered(stack);
      return requests;
    });
    const execution = await measure('executions with one email', async () => {
      await recordEvents(stack, EVENT, executions);
      await waitUntil(stack, (row) => row.open === 0 && row.unsent === 0);
      return executions;
    });
    await query(stack.em(), sql`update contact set subscribed = false`);
    await createContacts(stack, recipients);
    const campaign = await measure('emails of a campaign', () => sendCampaignToAll(stack));
    const total = Object.values(campaign.cpuMs).reduce((sum, ms) => sum + ms, 0);
    return {
      name: 'costs',
      figure: Number(total.toFixed(3)),
      unit: 'CPU ms per campaign mail',
      limit: null,
      ratio: null,
      event,
      transactional,
      execution,
      campaign,
    };
  },
};
