import { expect, it } from '@jest/globals';
import { findFreePort } from '../local/processes/free-port.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { eventually } from './support/eventually.ts';
import { startTraceCollector } from './support/trace-collector.ts';
import { SDK_LOADED, startTracedStack, type TracedStack } from './support/traced-stack.ts';

const EMAILS = 20;

/** Sends emails and waits until the server has them. */
async function sendAll(stack: TracedStack): Promise<void> {
  const requests = Array.from({ length: EMAILS }, (_, index) =>
    stack.api('POST', '/v1/send', {
      headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
      body: { to: `to-${index}@mail.test`, subject: 'Hello', body: '<p>Hi</p>', from: 'hello@example.com' },
    }),
  );
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  await eventually(async () => stack.sink.messageCount() === EMAILS, 60_000);
}

async function contextCount(stack: TracedStack): Promise<number> {
  return (await query(stack.em(), sql`select from trace_context`)).length;
}

it.concurrent(
  'tracing that is off loads no SDK, opens no connection and writes no row',
  async () => {
    const collector = await startTraceCollector();
    const off = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_EXPORTER: 'none' };
    const stack = await startTracedStack({
      api: off,
      worker: { ...off, OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'TRUE' },
    });
    try {
      await sendAll(stack);
      const { api, worker } = stack.processes;
      expect(await Promise.all([api.terminate(), worker.terminate()])).toEqual([0, 0]);
      expect(api.output() + worker.output()).not.toContain(SDK_LOADED);
      expect(collector.connectionCount()).toBe(0);
      expect(await contextCount(stack)).toBe(0);
    } finally {
      await stack.stop();
      await collector.close();
    }
  },
  120_000,
);

it.concurrent(
  'tracing delays no request and ends no process when the collector hangs or is away',
  async () => {
    const collector = await startTraceCollector({ hangs: true });
    const nowhere = `http://127.0.0.1:${await findFreePort(0)}`;
    const stack = await startTracedStack({
      api: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '60000' },
      worker: { OTEL_EXPORTER_OTLP_ENDPOINT: nowhere },
    });
    try {
      await sendAll(stack);
      await eventually(async () => collector.connectionCount() > 0);
      expect(await contextCount(stack)).toBe(EMAILS);
      const { api, worker } = stack.processes;
      expect(api.output() + worker.output()).toContain(SDK_LOADED);
      await eventually(async () => worker.output().includes('tracing has a problem'), 30_000);
      // The exporter alone would try for a minute.
      const beganAt = performance.now();
      expect(await api.terminate()).toBe(0);
      expect(performance.now() - beganAt).toBeLessThan(30_000);
      expect(await worker.terminate()).toBe(0);
    } finally {
      await stack.stop();
      await collector.close();
    }
  },
  120_000,
);
