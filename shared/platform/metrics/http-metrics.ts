import type { RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import { metricsOf } from './metrics.ts';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** One name for all requests without a route, because the caller chooses their paths. */
const NO_ROUTE = 'none';
/** The status of a request whose client disconnected before the response. */
const CLIENT_GONE = '499';

/** Creates middleware that counts requests by endpoint, method and status. An endpoint is the pattern of its path. */
export function countRequests(registry: Registry): RequestHandler {
  const { counter, histogram } = metricsOf(registry);
  const requests = counter('everpost_http_requests_total', 'Answered requests', ['method', 'endpoint', 'status']);
  const seconds = histogram(
    'everpost_http_request_seconds',
    'From the first octet of a request to the last one of its answer',
    ['endpoint'],
    SECONDS,
  );
  return (req, res, next) => {
    const end = seconds.startTimer();
    res.once('close', () => {
      const route = req.route as { path?: unknown } | undefined;
      const endpoint = typeof route?.path === 'string' ? route.path : NO_ROUTE;
      const status = res.writableFinished ? String(res.statusCode) : CLIENT_GONE;
      requests.inc({ method: endpoint === NO_ROUTE ? 'any' : req.method, endpoint, status });
      end({ endpoint });
    });
    next();
  };
}
