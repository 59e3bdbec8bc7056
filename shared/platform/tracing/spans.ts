import {
  context,
  isSpanContextValid,
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

/** Ids, counts and states; never an address, a text that a person wrote, or a key. Undefined values are left out. */
export type SpanAttributes = Attributes;

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: SpanAttributes;
  /** The parent of the span; the active span when left out. */
  parent?: TraceParent | undefined;
  /** Other spans that this one is related to. */
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

/** The trace parent that names a span. */
export function traceParentOf(span: Span): TraceParent {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

/** The active span; undefined where there is none, where its trace is not sampled, and while tracing is off. */
export function activeTrace(): TraceParent | undefined {
  const span = trace.getActiveSpan();
  if (!span || !isSpanContextValid(span.spanContext())) return undefined;
  const parent = traceParentOf(span);
  return parent.isSampled ? parent : undefined;
}

/** The active span in the form of the `traceparent` header; undefined as above. */
export function activeTraceParent(): string | undefined {
  const parent = activeTrace();
  return parent && formatTraceParent(parent);
}

/** Adds attributes to the active span, if there is one. */
export function annotate(attributes: SpanAttributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}

/** Runs work with a span as the active one. */
export function within<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work);
}

/** Marks a span as failed. The message is left out, because other systems may have written it. */
export function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  if (error instanceof Error) span.setAttribute('error.type', typeOf(error));
}

/** The type of a Temporal failure, which says more than its class; else the name of the error. */
function typeOf(error: Error & { type?: unknown }): string {
  return typeof error.type === 'string' ? error.type : error.name;
}

/**
 * Runs work within a span, which ends with it.
 * @param note gets the result, to add attributes
 */
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
