import type { ErrorRequestHandler, Request, Response } from 'express';
import { AppError, type FieldError } from '../../shared/pure/app-error.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../shared/pure/error-catalogue.ts';
import { isDatabaseUnavailable } from '../../shared/database/database-errors.ts';
import type { Logger } from '../../shared/platform/logger.ts';

const ERRORS_MAX = 100;
const FIELD_LENGTH_MAX = 200;
const MESSAGE_LENGTH_MAX = 1_000;
const TEXT_LENGTH_MAX = 500;
const ITEMS_MAX = 100;
const DEPTH_MAX = 5;

/** The id of a request, which the middleware `requestId` has set. */
export function requestIdOf(res: Response): string {
  return String(res.getHeader('X-Request-ID') ?? '');
}

function wireCodeOf(error: AppError): string {
  const entry: { status: number; wireCode?: string } = ERROR_CATALOGUE[error.code];
  return entry.wireCode ?? error.code;
}

/** The suggestion and the docs page of a code. The page is a path: only the caller knows this server's address. */
function suggestionOf(suggestion: string | undefined, code: ErrorCode): string {
  const page = `See /docs/errors/${code}`;
  return suggestion === undefined ? page : `${suggestion}. ${page}`;
}

function cut(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
}

function cutError({ field, message, ...rest }: FieldError): FieldError {
  return { ...rest, field: cut(field, FIELD_LENGTH_MAX), message: cut(message, TEXT_LENGTH_MAX) };
}

function cutValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value, TEXT_LENGTH_MAX);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return undefined;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => cutValue(item, depth + 1));
  const entries = Object.entries(value).slice(0, ITEMS_MAX);
  return Object.fromEntries(entries.map(([key, item]) => [cut(key, FIELD_LENGTH_MAX), cutValue(item, depth + 1)]));
}

/**
 * Bounds the size of an error answer, because errors quote the request. Only the first hundred faults are answered;
 * `details.errorCount` says how many there are.
 */
function boundedError({ message, errors, details, suggestion }: AppError) {
  const isCut = errors !== undefined && errors.length > ERRORS_MAX;
  const shownDetails = isCut ? { ...details, errorCount: errors.length } : details;
  return {
    message: cut(message, MESSAGE_LENGTH_MAX),
    ...(errors && { errors: errors.slice(0, ERRORS_MAX).map(cutError) }),
    ...(shownDetails && { details: cutValue(shownDetails, 0) }),
    ...(suggestion && { suggestion: cut(suggestion, MESSAGE_LENGTH_MAX) }),
  };
}

/** An error as callers see it, without the request that it is about. */
export function errorView(error: AppError) {
  const { suggestion, ...bounded } = boundedError(error);
  return {
    code: wireCodeOf(error),
    statusCode: error.statusCode,
    ...bounded,
    suggestion: suggestionOf(suggestion, error.code),
  };
}

/** The error envelope of the interface document. */
export function errorEnvelope(error: AppError, requestId: string) {
  const { code, statusCode, ...rest } = errorView(error);
  return {
    success: false,
    error: { code, statusCode, requestId, ...rest },
    timestamp: new Date().toISOString(),
  };
}

/** The error for a fault that Express itself raises, such as a path that is not encoded properly. */
function fromHttpFault(fault: { status?: number }): AppError | undefined {
  const isByCaller = fault.status !== undefined && fault.status >= 400 && fault.status < 500;
  return isByCaller ? new AppError('BAD_REQUEST', { message: 'The request is not well-formed' }) : undefined;
}

/** Turns anything thrown into an AppError; an unknown error becomes a 500 that reveals nothing internal. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isDatabaseUnavailable(error)) return new AppError('SERVICE_UNAVAILABLE', { cause: error });
  const fault = typeof error === 'object' && error !== null ? fromHttpFault(error) : undefined;
  return fault ?? new AppError('INTERNAL_SERVER_ERROR', { cause: error });
}

/** The pattern of the route: the path itself may hold a token or an address. */
function routeOf(req: Request): string | undefined {
  const route = req.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : undefined;
}

/** Sets status and headers of the answer to an error, and logs it if its status is 500 or above. */
export function beginError(req: Request, res: Response, error: unknown, logger: Logger): AppError {
  const appError = toAppError(error);
  const requestId = requestIdOf(res);
  if (appError.statusCode >= 500) {
    logger.error({ err: appError.cause ?? appError, requestId, path: routeOf(req) }, appError.message);
  }
  const retryAfter = appError.details?.['retryAfter'];
  if (typeof retryAfter === 'number') res.setHeader('Retry-After', String(retryAfter));
  if (appError.code === 'SERVICE_UNAVAILABLE') res.setHeader('Retry-After', '2');
  // The rest of a request that came too slowly is not read.
  if (appError.code === 'REQUEST_TIMEOUT') res.setHeader('Connection', 'close');
  res.status(appError.statusCode);
  return appError;
}

/** Sends an error in the envelope. */
export function sendError(req: Request, res: Response, error: unknown, logger: Logger): void {
  res.json(errorEnvelope(beginError(req, res, error, logger), requestIdOf(res)));
}

/** The last handler of the application, which answers every error. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    sendError(req, res, error, logger);
  };
}
