import express, { type RequestHandler } from 'express';
import { badRequest, validationError, type FieldError } from '../../shared/pure/app-error.ts';
import { AppError } from '../../shared/pure/app-error.ts';

/** Far above what a filter tree of 50 levels needs, far below what exhausts a stack here or in PostgreSQL. */
const DEPTH_MAX = 400;

interface Node {
  value: unknown;
  path: string;
  depth: number;
}

function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character';
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  return undefined;
}

/**
 * Refuses what no endpoint can store: nesting deeper than DEPTH_MAX, NUL characters, lone surrogates, numbers like
 * 1e400. Iterative, since the depth is the caller's.
 * @throws AppError BAD_REQUEST for the depth, VALIDATION_ERROR naming the fields for the others
 */
export function assertStorable(body: unknown): void {
  const errors: FieldError[] = [];
  const stack: Node[] = [{ value: body, path: '', depth: 0 }];
  const report = (field: string, message: string, code = 'invalid_string') => errors.push({ field, message, code });
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const { value, path, depth } = node;
    if (typeof value === 'string') {
      const fault = textFault(value);
      if (fault) report(path, fault);
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) report(path, 'must be a number that a double can hold', 'not_finite');
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= DEPTH_MAX) throw badRequest(`The JSON body is nested deeper than ${DEPTH_MAX} levels`);
      for (const [key, item] of Object.entries(value)) {
        const keyFault = textFault(key);
        if (keyFault) report(path, `has a key that ${keyFault}`);
        stack.push({ value: item, path: path === '' ? key : `${path}.${key}`, depth: depth + 1 });
      }
    }
    if (errors.length >= 20) break;
  }
  if (errors.length > 0) throw validationError(errors);
}

const storableBody: RequestHandler = (req, _res, next) => {
  assertStorable(req.body);
  next();
};

const requireJsonType: RequestHandler = (req, _res, next) => {
  const length = req.headers['content-length'];
  const hasBody = req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
  if (hasBody && !req.is(['application/json', 'application/*+json'])) throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  next();
};

/** Parses a JSON body of at most `bytesMax` bytes into `req.body`; no body at all reads as `{}`. */
export function jsonBody(bytesMax: number): RequestHandler[] {
  return [
    requireJsonType,
    express.json({ limit: bytesMax, type: () => true, strict: false }),
    (req, _res, next) => {
      req.body ??= {};
      next();
    },
    storableBody,
  ];
}
