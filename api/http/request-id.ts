import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';

const VALID_ID = /^[\x21-\x7e]{1,128}$/;

/** Puts `X-Request-ID` on every response: the caller's own id if it is valid, else a new one. */
export const requestId: RequestHandler = (req, res, next) => {
  const incoming = req.get('x-request-id');
  res.setHeader('X-Request-ID', incoming !== undefined && VALID_ID.test(incoming) ? incoming : randomUUID());
  next();
};
