import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanKind,
} from '@opentelemetry/api';
import { formatTraceParent, type TraceParent } from '../../pure/trace-parent.ts';

/** Ids, counts and states; never an address, words of a person, or a key. Undefined ones are left out. */
export type SpanAttributes = Attributes;

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: SpanAttributes;
  /** The parent of the span; the active span when left out. */
  parent?: TraceParent | undefined;
  /** Other spans that it has to do with. */
  links?: readonly TraceParent[];
  startTime?: Date;
}

const tracer = trace.getTracer('everpost');

function contextWith({ traceId, spanId, isSampled }: TraceParent): Context {
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(context.active(), { traceId, spanId, traceFlags, isRemote: true });
}

function linkTo({ traceId, spanId, isSampled }: TraceParent): Link {
  return { context: { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE } };
}

/** Starts a span. It does nothing while tracing is off. */
export function startSpan(name: string, { parent, links = [], ...options }: SpanOptions = {}): Span {
  return tracer.startSpan(name, { ...options, links: links.map(linkTo) }, parent ? contextWith(parent) : undefined);
}

/** Where a span is. */
export function placeOf(span: Span): TraceParent {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

/** The active span; undefined where there is none, where its trace is not sampled, and while tracing is off. */
export function activeTrace(): TraceParent | undefined {
  const span = trace.getActiveSpan();
  if (!span || !isSpanContextValid(span.spanContext())) return undefined;
  const place = placeOf(span);
  return place.isSampled ? place : undefined;
}

/** The `traceparent` of `activeTrace`. */
export function activeTraceParent(): string | undefined {
  const place = activeTrace();
  return place && formatTraceParent(place);
}

/** Adds to the active span. */
export function annotate(attributes: SpanAttributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}

/** Makes a span the active one during work. */
export function within<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** Does work outside of all traces, whoever has woken it. */
export function withoutTrace<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work);
}

/** Marks a span as failed. The message stays out, because others may have written it. */
export function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  if (error instanceof Error) span.setAttribute('error.type', typeOf(error));
}

/** Failures of Temporal have a type, which says more than their class. */
function typeOf(error: Error & { type?: unknown }): string {
  return typeof error.type === 'string' ? error.type : error.name;
}

/** Does work within a span, which ends with it. `note` gets the result, for attributes. */
export async function withSpan<T>(
  name: string,
  options: SpanOptions,
  work: () => Promise<T>,
  note?: (span: Span, result: T) => void,
): Promise<T> {
  const span = startSpan(name, options);
  try {
    const result = await within(span, work);
    note?.(span, result);
    return result;
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}
