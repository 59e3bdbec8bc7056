/** The span that caused some work, as W3C Trace Context carries it. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  isSampled: boolean;
}

/** The header of Temporal under which its SDKs, in all languages, carry `{ traceparent }`. */
export const TRACE_HEADER = '_tracer-data';

const TRACE_PARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;
const SAMPLED = 1;

/** Parses a `traceparent` of version 00 or later; undefined for any other text. */
export function parseTraceParent(text: string | undefined): TraceParent | undefined {
  const [, traceId, spanId, flags] = TRACE_PARENT.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Writes a `traceparent` of version 00. */
export function formatTraceParent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** What a run of a workflow reports when it ends. Times are milliseconds since 1970. */
export interface WorkflowSpan {
  spanId: string;
  parent: TraceParent;
  startMs: number;
  endMs: number;
  outcome: 'completed' | 'continued as new' | 'cancelled' | 'failed';
}
