import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';

const SANE_ID = /^[\x21-\x7e]{1,128}$/;

/** Puts `X-Request-ID` on every response; a sane incoming one is kept. */
export const requestId: RequestHandler = (req, res, next) => {
  const incoming = req.get('x-request-id');
  res.setHeader('X-Request-ID', incoming !== undefined && SANE_ID.test(incoming) ? incoming : randomUUID());
  next();
};
