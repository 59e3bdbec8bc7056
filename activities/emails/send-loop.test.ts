import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { composeMessage } from '../../tests/support/composed-messages.ts';
import { createDeliveryMetrics } from '../../shared/platform/metrics/delivery-metrics.ts';
import { createSmtpPool, type SmtpPool } from '../../shared/platform/smtp/smtp-pool.ts';
import { createSmtpSink, type SmtpSink } from '../../tests/support/smtp-sink.ts';
import type { ProviderGuard } from './provider-guard.ts';
import { createResultBuffer } from './result-buffer.ts';
import { sendEmails, type EmailToSend, type UnmadeMessages } from './send-loop.ts';

let sink: SmtpSink;
let pool: SmtpPool;
beforeAll(async () => {
  sink = await createSmtpSink();
  const logger = createLogger({ level: 'silent', name: 'test' });
  pool = createSmtpPool({ urls: [sink.url], maxConnections: 2, logger });
});
afterAll(async () => {
  await pool.close();
  await sink.close();
});

const from = 'hello@example.com';
const cause = new TypeError('unexpected');

function mailTo(name: string): EmailToSend {
  const to = `${name}@mail.test`;
  return {
    ...{ emailId: name, subject: null, deferrals: 0, uncertainAttempts: 0, heldAt: null },
    envelope: { from, to },
    compose: () =>
      composeMessage({
        ...{ from: { address: from }, to: { address: to }, subject: 'Hello', html: '<p>Hi</p>', text: 'Hi' },
        ...{ messageId: `${name}@example.com`, date: new Date(), headers: [], attachments: [] },
      }),
  };
}

function unmadeWhenComposed(name: string): EmailToSend {
  return {
    ...mailTo(name),
    compose() {
      throw cause;
    },
  };
}

const unprepared = (name: string): EmailToSend => ({
  ...{ emailId: name, subject: null, deferrals: 0, uncertainAttempts: 0, heldAt: null },
  cause,
});

/** A guard that admits every email. */
const OPEN: ProviderGuard = {
  ready: async () => undefined,
  isPaused: () => false,
  admit: async () => ({ projectId: 'project', provider: 'mail.test' }),
  settle: () => ({}),
  abandon: () => undefined,
  unreachable: () => {
    throw new Error('not expected');
  },
};

async function send(mails: EmailToSend[], unmade: UnmadeMessages): Promise<Record<string, string>> {
  const results: DeliveryResult[] = [];
  const { signal } = new AbortController();
  const record = async (batch: DeliveryResult[]): Promise<void> => {
    results.push(...batch);
  };
  const buffer = createResultBuffer({ maxItems: 10, waitingMax: 20, maxAgeMs: 10, signal, record, keep: record });
  await sendEmails(mails, {
    ...{
      pool,
      guard: OPEN,
      urgency: 'transactional',
      projectId: 'project',
      buffer,
      unmade,
      signal,
      concurrency: 2,
      mailCount: mails.length,
    },
    metrics: createDeliveryMetrics(new Registry()),
    config: { DELIVERY_RETRY_SECONDS: [1], DELIVERY_PAUSE_SECONDS: 1 },
    shouldStop: () => false,
    sandbox: { answer: () => undefined },
    trace: (_emailId, send) => send(),
  });
  await buffer.drain();
  return Object.fromEntries(results.map((result) => [result.emailId, result.verdict]));
}

describe('a message that cannot be composed', () => {
  it('does not delay others, and is left for another attempt', async () => {
    const unmade: UnmadeMessages = { isLastAttempt: false, causes: [] };
    const mails = [mailTo('a'), unmadeWhenComposed('b'), unprepared('c'), mailTo('d')];
    expect(await send(mails, unmade)).toEqual({ a: 'sent', d: 'sent' });
    expect(unmade.causes).toEqual([cause, cause]);
  });

  it('fails its email in the last attempt', async () => {
    const unmade: UnmadeMessages = { isLastAttempt: true, causes: [] };
    expect(await send([unmadeWhenComposed('e'), mailTo('f'), unprepared('g')], unmade)).toEqual({
      e: 'failed',
      f: 'sent',
      g: 'failed',
    });
    expect(unmade.causes).toEqual([]);
  });

  it('does not fail its email because of PostgreSQL', async () => {
    const unmade: UnmadeMessages = { isLastAttempt: true, causes: [] };
    const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
    expect(await send([{ ...unprepared('h'), cause: locked }, mailTo('i')], unmade)).toEqual({ i: 'sent' });
    expect(unmade.causes).toEqual([locked]);
  });
});
