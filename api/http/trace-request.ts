import { SpanKind } from '@opentelemetry/api';
import type { Request, Response } from 'express';
import { parseTraceParent } from '../../shared/pure/trace-parent.ts';
import { markFailed, startSpan, within } from '../../shared/platform/tracing/spans.ts';
import { mayContinueTrace } from './guests.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * Serves a request within a span, which continues the trace of a caller with a secret key (`traceparent`) or begins
 * one, and lasts until the answer has been sent. Its attributes never contain the URL, which may hold an email address.
 */
export function traceRequest(
  { method, path, operationId }: Endpoint,
  req: Request,
  res: Response,
  serve: () => Promise<void>,
): Promise<void> {
  const verb = method.toUpperCase();
  const span = startSpan(`${verb} ${path}`, {
    kind: SpanKind.SERVER,
    parent: mayContinueTrace(req) ? parseTraceParent(req.get('traceparent')) : undefined,
    attributes: { 'http.request.method': verb, 'http.route': path, 'everpost.operation': operationId },
  });
  // Not sampled, or tracing is off.
  if (!span.isRecording()) return serve();
  res.once('close', () => {
    if (res.writableFinished) span.setAttribute('http.response.status_code', res.statusCode);
    if (!res.writableFinished || res.statusCode >= 500) markFailed(span, undefined);
    span.end();
  });
  return within(span, serve);
}
