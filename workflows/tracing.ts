import {
  ContinueAsNew,
  defaultPayloadConverter,
  isCancellation,
  proxySinks,
  workflowInfo,
  type Headers,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import {
  formatTraceParent,
  parseTraceParent,
  TRACE_HEADER,
  type TraceParent,
  type WorkflowSpan,
} from '../shared/pure/trace-parent.ts';

const { tracing } = proxySinks<{ tracing: { ended: (span: WorkflowSpan) => void } }>();

function readHeader(headers: Headers): TraceParent | undefined {
  const payload = headers[TRACE_HEADER];
  if (!payload) return undefined;
  return parseTraceParent(defaultPayloadConverter.fromPayload<{ traceparent?: string }>(payload).traceparent);
}

/** The id of the span of a run. The end of a run id is random, so no further random number is needed. */
function spanIdOf(runId: string): string {
  return runId.replaceAll('-', '').slice(-16);
}

function outcomeOf(error: unknown): WorkflowSpan['outcome'] {
  if (error instanceof ContinueAsNew) return 'continued as new';
  return isCancellation(error) ? 'cancelled' : 'failed';
}

/**
 * Propagates a trace through a workflow: from the header that it was started with to the headers of its activities and
 * of its next run. When the run ends, the worker makes a span of it. All code here is synchronous, uses no random
 * numbers and issues no commands, so a history replays in the same way with and without a trace.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let own: TraceParent | undefined;

  function withHeader<Input extends { readonly headers: Headers }>(input: Input): Input {
    if (!own) return input;
    const traceparent = formatTraceParent(own);
    return {
      ...input,
      headers: { ...input.headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) },
    };
  }

  function report(parent: TraceParent, spanId: string, outcome: WorkflowSpan['outcome']): void {
    const startMs = workflowInfo().runStartTime.getTime();
    tracing.ended({ spanId, parent, startMs, endMs: Date.now(), outcome });
  }

  return {
    inbound: [
      {
        execute(input, next) {
          const parent = readHeader(input.headers);
          if (!parent?.isSampled) return next(input);
          const spanId = spanIdOf(workflowInfo().runId);
          own = { ...parent, spanId };
          const running = next(input);
          running.then(
            () => report(parent, spanId, 'completed'),
            (error: unknown) => report(parent, spanId, outcomeOf(error)),
          );
          return running;
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withHeader(input)),
        scheduleLocalActivity: (input, next) => next(withHeader(input)),
        continueAsNew: (input, next) => next(withHeader(input)),
      },
    ],
  };
};
