import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { badRequest } from '../../shared/pure/app-error.ts';

/** Visible ASCII. Without @ and % it is no address, so that the record of who did what, which keeps the id, has none. */
const VALID_ID = /^(?:(?![@%])[\x21-\x7e]){1,128}$/;
/** Enough for a search of 500 percent-encoded characters and all other parameters of a query. */
const URL_LENGTH_MAX = 8 * 1024;
/** The characters of a host (RFC 3986 section 3.2.2) with a port. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/** Puts `X-Request-ID` on every response: the caller's own id if it is valid, else a new one. */
export const requestId: RequestHandler = (req, res, next) => {
  const incoming = req.get('x-request-id');
  res.setHeader('X-Request-ID', incoming !== undefined && VALID_ID.test(incoming) ? incoming : randomUUID());
  next();
};

/** How often a request has a header. Node gives only the first of those that may be there once. */
function countOf(req: Request, header: string): number {
  let count = 0;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index];
    if (name?.length === header.length && name.toLowerCase() === header) count += 1;
  }
  return count;
}

/** Whether there is exactly one Host header with characters of a host (RFC 9112 section 3.2); HTTP/1.0 needs none. */
function hasOneHost(req: Request): boolean {
  const count = countOf(req, 'host');
  return count <= 1 && (req.httpVersion === '1.0' || count === 1) && HOST.test(req.headers.host ?? '');
}

/** Refuses requests with an invalid request line or Host header, or with two keys, of which a proxy may look at the other. */
export const requestLine: RequestHandler = (req, _res, next) => {
  if (req.url.length > URL_LENGTH_MAX) throw badRequest(`The URL has more than ${URL_LENGTH_MAX} characters`);
  if (!hasOneHost(req)) throw badRequest('The Host header must name exactly one host');
  if (countOf(req, 'authorization') > 1) throw badRequest('The Authorization header must be there only once');
  next();
};
