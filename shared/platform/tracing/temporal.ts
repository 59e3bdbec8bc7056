import { SpanKind } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import {
  ApplicationFailure,
  ApplicationFailureCategory,
  defaultPayloadConverter,
  type Headers,
} from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { parseTraceParent, TRACE_HEADER, type TraceParent, type WorkflowSpan } from '../../pure/trace-parent.ts';
import { withSpanId } from './given-span-id.ts';
import { activeTraceParent, markFailed, startSpan, within } from './spans.ts';

function readHeader(headers: Headers): TraceParent | undefined {
  const payload = headers[TRACE_HEADER];
  if (!payload) return undefined;
  return parseTraceParent(defaultPayloadConverter.fromPayload<{ traceparent?: string }>(payload).traceparent);
}

/** Adds the active span, if there is one, to the headers that Temporal transports. */
function withHeader<Input extends { readonly headers: Headers }>(input: Input): Input {
  const traceparent = activeTraceParent();
  if (traceparent === undefined) return input;
  return {
    ...input,
    headers: { ...input.headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) },
  };
}

/** Makes the workflows that a client starts or signals continue the active trace. */
export const clientTracing: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next(withHeader(input)),
  signalWithStart: (input, next) => next(withHeader(input)),
  signal: (input, next) => next(withHeader(input)),
};

/** Whether a failure is part of the plan: the activity is to be repeated later, or found nothing to do. */
function isBenign(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN;
}

/** A span for each attempt at an activity whose workflow is traced. */
export const activityTracing: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    async execute(input, next) {
      const parent = readHeader(input.headers);
      if (!parent?.isSampled) return next(input);
      const span = startSpan(`activity ${info.activityType}`, {
        parent,
        attributes: {
          'temporal.workflow_id': info.workflowExecution?.workflowId,
          'temporal.run_id': info.workflowExecution?.runId,
          'temporal.attempt': info.attempt,
          'temporal.is_local': info.isLocal,
          'temporal.task_queue': info.taskQueue,
        },
      });
      try {
        return await within(span, () => next(input));
      } catch (error) {
        if (!isBenign(error)) markFailed(span, error);
        throw error;
      } finally {
        span.end();
      }
    },
  },
});

/** The sink that `workflows/tracing.ts` calls. Workflows without a trace never call it. */
export const workflowTracing: InjectedSinks<{ tracing: { ended: (span: WorkflowSpan) => void } }> = {
  tracing: {
    ended: {
      callDuringReplay: false,
      fn({ workflowId, runId, workflowType }, { spanId, parent, startMs, endMs, outcome }) {
        const attributes = {
          'temporal.workflow_id': workflowId,
          'temporal.run_id': runId,
          'everpost.outcome': outcome,
        };
        const options = { kind: SpanKind.INTERNAL, parent, attributes, startTime: new Date(startMs) };
        const span = withSpanId(spanId, () => startSpan(`workflow ${workflowType}`, options));
        if (outcome === 'failed') markFailed(span, undefined);
        span.end(new Date(endMs));
      },
    },
  },
};
