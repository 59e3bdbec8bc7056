import type { Express, RequestHandler } from 'express';
import { keyKindOf, type Endpoint } from './endpoint.ts';
import { IGNORED_FIELDS_HEADER } from './ignored-fields.ts';

const PREFLIGHT_SECONDS = '86400';

/** Any origin may call. A browser adds no credentials by itself, because the key is in a header. */
const allowAnyOrigin: RequestHandler = (_req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*');
  res.setHeader(
    'Access-Control-Expose-Headers',
    `X-Request-ID, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, ${IGNORED_FIELDS_HEADER}`,
  );
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  next();
};

/** Lets browsers on any site call the endpoints that take the public key; the others stay closed to them. */
export function mountCors(app: Express, endpoints: Endpoint[]): void {
  for (const { path, method } of endpoints.filter((definition) => keyKindOf(definition) === 'public')) {
    app.use(path, allowAnyOrigin);
    app.options(path, (_req, res) => {
      res.setHeader('Access-Control-Allow-Methods', method.toUpperCase());
      res.setHeader(
        'Access-Control-Allow-Headers',
        'Authorization, Content-Type, Idempotency-Key, Traceparent, X-Request-ID',
      );
      res.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
      res.status(204).end();
    });
  }
}
