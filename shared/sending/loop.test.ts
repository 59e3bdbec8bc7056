import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createLogger } from '../platform/logger.ts';
import { composeMessage } from '../../tests/support/composed-messages.ts';
import { createDeliveryMetrics } from './delivery-metrics.ts';
import { createSmtpPool, SmtpUnavailableError, type SmtpPool } from './transport/smtp-pool.ts';
import { createSmtpSink, type SmtpSink } from '../../tests/support/smtp-sink.ts';
import { recipientProviderOf } from './verdict/recipient-provider.ts';
import { createResultBuffer } from './results/result-buffer.ts';
import { sendEmails, type UnmadeMessages } from './loop.ts';
import type { ProviderGuard } from './permit/provider-guard.ts';
import type { DeliveryResult, EmailToSend, PreparedEmail } from './ports.ts';

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

/** A permit for every email. */
const OPEN: ProviderGuard = {
  ready: async () => undefined,
  isPaused: () => false,
  admit: async ({ to }) => ({ projectId: 'project', provider: recipientProviderOf(to) }),
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
    retrySeconds: [1],
    shouldStop: () => false,
    sandbox: { answer: () => undefined },
    trace: (_emailId, send) => send(),
  });
  await buffer.drain();
  return Object.fromEntries(results.map((result) => [result.emailId, result.verdict]));
}

describe('five connections in a row that the server ends with 421', () => {
  const closing = { code: 421, text: '4.7.0 Try again later', stage: 'rcpt' } as const;
  const busy = (domain: (n: number) => string) =>
    [0, 1, 2, 3, 4, 5].map((n) => {
      const to = `busy${n}@${domain(n)}`;
      sink.replyTo(to, closing);
      return { ...(mailTo(`busy${n}`) as PreparedEmail), envelope: { from, to } };
    });
  const unmade: UnmadeMessages = { isLastAttempt: () => false, causes: [] };

  it('stop no other email when all were for one provider', async () => {
    const results = await send([...busy(() => 'busy.test'), mailTo('other')], unmade);
    expect(results).toMatchObject({ busy5: 'deferred', other: 'sent' });
  });

  it('end the batch when they were for several', async () => {
    const sent = send([...busy((n) => `busy${n}.test`), mailTo('last')], unmade);
    await expect(sent).rejects.toThrow(SmtpUnavailableError);
    expect(sink.recipientCounts().has('last@mail.test')).toBe(false);
  });
});

describe('a message that cannot be composed', () => {
  it('does not delay others, and is left for another attempt', async () => {
    const unmade: UnmadeMessages = { isLastAttempt: () => false, causes: [] };
    const mails = [mailTo('a'), unmadeWhenComposed('b'), unprepared('c'), mailTo('d')];
    expect(await send(mails, unmade)).toEqual({ a: 'sent', d: 'sent' });
    expect(unmade.causes).toEqual([cause, cause]);
  });

  it('fails its email in the last attempt', async () => {
    const unmade: UnmadeMessages = { isLastAttempt: () => true, causes: [] };
    expect(await send([unmadeWhenComposed('e'), mailTo('f'), unprepared('g')], unmade)).toEqual({
      e: 'failed',
      f: 'sent',
      g: 'failed',
    });
    expect(unmade.causes).toEqual([]);
  });
});
