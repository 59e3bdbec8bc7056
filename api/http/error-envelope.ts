import type { ErrorRequestHandler, Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import { ERROR_CATALOGUE } from '../../shared/pure/error-catalogue.ts';
import { isDatabaseUnavailable } from '../../shared/domain/database-errors.ts';
import type { Logger } from '../../shared/platform/logger.ts';

/** The id of a request: the caller's own when it is sane, else ours. Set by `requestId`. */
export function requestIdOf(res: Response): string {
  return String(res.getHeader('X-Request-ID') ?? '');
}

function wireCodeOf(error: AppError): string {
  const entry: { status: number; wireCode?: string } = ERROR_CATALOGUE[error.code];
  return entry.wireCode ?? error.code;
}

/** The error envelope of the interface document. */
export function errorEnvelope(error: AppError, requestId: string) {
  return {
    success: false,
    error: {
      code: wireCodeOf(error),
      message: error.message,
      statusCode: error.statusCode,
      requestId,
      ...(error.errors && { errors: error.errors }),
      ...(error.details && { details: error.details }),
      ...(error.suggestion && { suggestion: error.suggestion }),
    },
    timestamp: new Date().toISOString(),
  };
}

interface HttpFault {
  status?: number;
  type?: string;
  limit?: number;
}

/** Faults that Express and its body parser raise themselves. */
function fromHttpFault(fault: HttpFault): AppError | undefined {
  switch (fault.type) {
    case 'entity.parse.failed':
      return new AppError('BAD_REQUEST', { message: 'The request body is not valid JSON' });
    case 'entity.too.large':
      return new AppError('PAYLOAD_TOO_LARGE', { details: { limitBytes: fault.limit } });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new AppError('UNSUPPORTED_MEDIA_TYPE', {
        message: 'The body must be JSON in UTF-8, plain, gzip or deflate',
      });
    default:
      return fault.status !== undefined && fault.status >= 400 && fault.status < 500
        ? new AppError('BAD_REQUEST', { message: 'The request is not well-formed' })
        : undefined;
  }
}

/** Turns anything thrown into an AppError; what is not ours becomes a 500 that tells nothing about the inside. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isDatabaseUnavailable(error)) return new AppError('SERVICE_UNAVAILABLE', { cause: error });
  const fault = typeof error === 'object' && error !== null ? fromHttpFault(error) : undefined;
  return fault ?? new AppError('INTERNAL_SERVER_ERROR', { cause: error });
}

/** Sends an error in the envelope and logs the ones that are ours to mend. */
export function sendError(req: Request, res: Response, error: unknown, logger: Logger): void {
  const appError = toAppError(error);
  const requestId = requestIdOf(res);
  if (appError.statusCode >= 500) {
    logger.error({ err: appError.cause ?? appError, requestId, path: req.path }, appError.message);
  }
  const retryAfter = appError.details?.['retryAfter'];
  if (typeof retryAfter === 'number') res.setHeader('Retry-After', String(retryAfter));
  if (appError.code === 'SERVICE_UNAVAILABLE') res.setHeader('Retry-After', '2');
  res.status(appError.statusCode).json(errorEnvelope(appError, requestId));
}

/** The last handler of the application. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    sendError(req, res, error, logger);
  };
}
