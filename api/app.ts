import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { AppError } from '../shared/pure/app-error.ts';
import { mountCodec } from './codec/codec.routes.ts';
import { mountDocs } from './docs/docs.routes.ts';
import { mountConsole } from './console/console.routes.ts';
import { mountFeedback } from './feedback/feedback.routes.ts';
import { showLaterPage } from './feedback/later-page.ts';
import { createAuthenticator } from './http/authenticator.ts';
import { mountSubscribeForms } from './subscribe/form.routes.ts';
import type { ApiDeps } from './http/context.ts';
import { mountCors } from './http/cors.ts';
import { createDoors } from './http/doors.ts';
import { errorHandler } from './http/error-envelope.ts';
import { createHandlerTools } from './http/handler-tools.ts';
import { createLoad } from './http/load.ts';
import { mountEndpoints } from './http/mount.ts';
import { createNearestPaths } from './http/nearest-path.ts';
import { requestId, requestLine } from './http/request-head.ts';
import { mountHealth, mountWaitingHealth, type HealthChecks } from './health/health.routes.ts';
import { mountReference } from './reference/reference.routes.ts';
import { mountLook } from './look/look.routes.ts';
import { mountStartPage } from './reference/start-page.ts';
import { createEndpoints } from './routes.ts';
import type { Endpoint } from './http/endpoint.ts';
import type { Config } from '../shared/platform/config.ts';
import type { Logger } from '../shared/platform/logger.ts';

/** An application with the middleware of every answer, and the endpoints that are to be mounted on it. */
function createBaseApp(config: Config, observe?: RequestHandler): { app: Express; endpoints: Endpoint[] } {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.set('etag', false);
  if (observe) app.use(observe);
  app.use(requestId);
  app.use(requestLine);
  app.use(
    helmet({
      contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
      strictTransportSecurity: { includeSubDomains: config.HSTS_SUBDOMAINS },
    }),
  );
  const endpoints = createEndpoints(config);
  app.use(createDoors(config, endpoints));
  mountCors(app, endpoints);
  return { app, endpoints };
}

/** The API while it waits for PostgreSQL: it is healthy but not ready, and answers every request with 503. */
export function createWaitingApp(config: Config, logger: Logger, observe?: RequestHandler): Express {
  const { app } = createBaseApp(config, observe);
  mountWaitingHealth(app, 'waiting for PostgreSQL');
  app.use(() => {
    throw new AppError('SERVICE_UNAVAILABLE');
  });
  app.use(showLaterPage(logger), errorHandler(logger));
  return app;
}

/** Creates what requests and submitted messages share. */
export function createSharedParts({ config, authenticatorOrm, logger }: ApiDeps) {
  const limitPerMinute = config.API_RATE_LIMIT_PER_MINUTE;
  return {
    load: createLoad(config.DATABASE_POOL_SIZE),
    authenticator: createAuthenticator({ orm: authenticatorOrm, logger, limitPerMinute }),
  };
}

/** What requests and submitted messages share. */
export type SharedParts = ReturnType<typeof createSharedParts>;

/**
 * The Express application, not yet listening. `observe` sees every request. A process that serves others calls `prepare`
 * first. Otherwise all requests wait while the first reader of the docs lets their OpenAPI document be made.
 */
export function createApp(
  deps: ApiDeps,
  checks: HealthChecks,
  observe?: RequestHandler,
  { load, authenticator }: SharedParts = createSharedParts(deps),
): { app: Express; prepare: () => void } {
  const { app, endpoints } = createBaseApp(deps.config, observe);
  mountHealth(app, checks);
  mountCodec(app, deps.config);
  mountFeedback(app, deps, load);
  mountStartPage(app, deps.config);
  if (deps.config.DOCS || deps.config.CONSOLE) mountLook(app);
  const readDocument = deps.config.DOCS ? mountReference(app, endpoints, deps.config.apiUrl) : undefined;
  if (readDocument) mountDocs(app, readDocument, deps.config.apiUrl);
  if (deps.config.CONSOLE) mountConsole(app, deps.config, authenticator, endpoints);
  const tools = createHandlerTools(deps, load);
  mountSubscribeForms(app, deps, { authenticator, load, subscribe: tools.subscribe });
  mountEndpoints(app, endpoints, { ...deps, ...tools, authenticator, load });
  const nearestPaths = createNearestPaths(endpoints);
  app.use((req) => {
    const nearest = nearestPaths(req.method, req.path).join(' or ');
    throw new AppError('RESOURCE_NOT_FOUND', {
      message: `There is no endpoint ${req.method} ${req.path}`,
      ...(nearest !== '' && { suggestion: `The nearest path is ${nearest}` }),
    });
  });
  app.use(showLaterPage(deps.logger), errorHandler(deps.logger));
  return { app, prepare: () => void readDocument?.() };
}
