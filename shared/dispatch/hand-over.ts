import { SpanKind } from '@opentelemetry/api';
import type { OutboxBatch } from '../domain/outbox/outbox-claims.ts';
import type { TraceContext, TraceContexts } from '../domain/outbox/trace-contexts.ts';
import { markFailed, placeOf, startSpan, within, withoutTrace } from '../platform/tracing/spans.ts';

/** Hands subjects of a batch to Temporal, as a part of their traces. */
export type HandOver = <T>(subjectIds: readonly string[], work: () => Promise<T>) => Promise<T>;

/** One of each trace. */
function tracesOf(subjectIds: readonly string[], contexts: TraceContexts): TraceContext[] {
  const traces = new Map<string, TraceContext>();
  for (const context of subjectIds.flatMap((id) => contexts.get(id) ?? [])) {
    if (!traces.has(context.parent.traceId)) traces.set(context.parent.traceId, context);
  }
  return [...traces.values()];
}

/**
 * Each trace gets a span from the commit to the hand-over. The workflow goes on with the first trace; the spans of the
 * others are linked to it.
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
    // The request that has woken the dispatcher may have nothing to do with it.
    if (!first) return withoutTrace(work);
    const leading = start(
      first,
      others.map(({ parent }) => parent),
    );
    const spans = [leading, ...others.map((context) => start(context, [placeOf(leading)]))];
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
