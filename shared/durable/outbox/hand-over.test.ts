import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { activeTrace } from '../../platform/tracing/spans.ts';
import { inTraces } from './hand-over.ts';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
});
beforeEach(() => exporter.reset());
afterAll(async () => {
  trace.disable();
  context.disable();
  await provider.shutdown();
});

const at = new Date(Date.now() - 5_000);
const contextOf = (digit: string) => ({
  parent: { traceId: digit.repeat(32), spanId: digit.repeat(16), isSampled: true },
  at,
});
const contexts = new Map([
  ['email-1', contextOf('1')],
  ['email-2', contextOf('2')],
  ['email-3', contextOf('1')],
]);
const subjectIds = ['email-0', 'email-1', 'email-2', 'email-3'];
const batch = {
  batchId: 'batch',
  kind: 'email',
  projectId: 'project',
  subjectIds,
  attempts: 1,
  isRestart: false,
  isNew: true,
} as const;
const handOver = <T>(ids: string[], work: () => Promise<T>) => inTraces({ ...batch, subjectIds }, ids, contexts, work);

it('a hand-over continues the first trace of a batch, and links a span of each other trace to it', async () => {
  const active = await handOver(subjectIds, async () => activeTrace());
  const [first, second, ...others] = exporter.getFinishedSpans();
  expect(others).toHaveLength(0);
  expect(active).toEqual({ traceId: '1'.repeat(32), spanId: first?.spanContext().spanId, isSampled: true });
  expect(first).toMatchObject({ name: 'outbox email', parentSpanContext: { spanId: '1'.repeat(16) } });
  expect(first?.links.map((link) => link.context.traceId)).toEqual(['2'.repeat(32)]);
  expect(first?.duration[0]).toBeGreaterThanOrEqual(5);
  expect(second?.spanContext().traceId).toBe('2'.repeat(32));
  expect(second?.links.map((link) => link.context.spanId)).toEqual([active?.spanId]);
});

it('a hand-over has no span for a subject without a trace', async () => {
  expect(await handOver(['email-0'], async () => activeTrace())).toBeUndefined();
  expect(exporter.getFinishedSpans()).toEqual([]);
});

it('a hand-over marks the spans of all traces as failed when Temporal refuses the work', async () => {
  const refusal = new RangeError('words of somebody');
  await expect(handOver(subjectIds, () => Promise.reject(refusal))).rejects.toBe(refusal);
  const spans = exporter.getFinishedSpans();
  expect(spans.map((span) => span.attributes['error.type'])).toEqual(['RangeError', 'RangeError']);
  expect(JSON.stringify(spans.map(({ status, events, attributes }) => [status, events, attributes]))).not.toContain(
    'words',
  );
});
