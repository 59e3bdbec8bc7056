import { randomBytes } from 'node:crypto';
import { eventually } from './eventually.ts';
import type { CollectedSpan, TraceCollector } from './trace-collector.ts';

const WAIT_MS = 60_000;

/** A new span of a caller, with its headers. */
export function newCaller() {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}

/** Waits until a trace has spans with all these names. @returns its spans by name */
export async function traceWith(
  collector: TraceCollector,
  traceId: string,
  names: string[],
): Promise<Map<string, CollectedSpan[]>> {
  return eventually(async () => {
    const trace = collector.traceOf(traceId);
    return names.every((name) => trace.has(name)) && trace;
  }, WAIT_MS);
}

/** Expects spans with these names, each the parent of the next. @returns the spans */
export function expectChain(
  trace: Map<string, CollectedSpan[]>,
  parentSpanId: string,
  names: string[],
): CollectedSpan[] {
  let parent = parentSpanId;
  return names.map((name) => {
    const span = trace.get(name)?.find((candidate) => candidate.parentSpanId === parent);
    if (!span) throw new Error(`no ${name} below ${parent}: ${JSON.stringify([...trace.values()].flat(), null, 1)}`);
    parent = span.spanId;
    return span;
  });
}
