import { SpanKind } from '@opentelemetry/api';
import type { OutboxBatch } from '../durable/outbox/outbox-claims.ts';
import type { TraceContext, TraceContexts } from '../durable/outbox/trace-contexts.ts';
import { markFailed, traceParentOf, startSpan, within, withoutTrace } from '../platform/tracing/spans.ts';

/** Runs `work`, which hands subjects of a batch to Temporal, as a part of their traces. */
export type HandOver = <T>(subjectIds: readonly string[], work: () => Promise<T>) => Promise<T>;

/** The first context of each trace. */
function tracesOf(subjectIds: readonly string[], contexts: TraceContexts): TraceContext[] {
  const traces = new Map<string, TraceContext>();
  for (const context of subjectIds.flatMap((id) => contexts.get(id) ?? [])) {
    if (!traces.has(context.parent.traceId)) traces.set(context.parent.traceId, context);
  }
  return [...traces.values()];
}

/**
 * Creates the hand-over of a batch. Each trace gets a span from the commit to the hand-over. The workflow continues the
 * first trace, and the spans of the others are linked to it.
 */
export function handOverOf(batch: OutboxBatch, contexts: TraceContexts): HandOver {
  const attributes = {
    'everpost.outbox.batch_id': batch.batchId,
    'everpost.outbox.rows': batch.subjectIds.length,
    'everpost.outbox.attempts': batch.attempts,
    'everpost.project_id': batch.projectId,
  };
  const start = ({ parent, at }: TraceContext, links: TraceContext['parent'][]) =>
    startSpan(`outbox ${batch.kind}`, { kind: SpanKind.PRODUCER, parent, startTime: at, links, attributes });

  return async (subjectIds, work) => {
    const [first, ...others] = tracesOf(subjectIds, contexts);
    // The current trace is of the request that woke the dispatcher, which need not be the one that added this row.
    if (!first) return withoutTrace(work);
    const leading = start(
      first,
      others.map(({ parent }) => parent),
    );
    const spans = [leading, ...others.map((context) => start(context, [traceParentOf(leading)]))];
    try {
      return await within(leading, work);
    } catch (error) {
      for (const span of spans) markFailed(span, error);
      throw error;
    } finally {
      for (const span of spans) span.end();
    }
  };
}
