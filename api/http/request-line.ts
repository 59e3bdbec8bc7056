import type { Request, RequestHandler } from 'express';
import { badRequest } from '../../shared/pure/app-error.ts';

/** Enough for a search of 500 percent-encoded characters and all other parameters of a query. */
const URL_LENGTH_MAX = 8 * 1024;
/** The characters of a host (RFC 3986 section 3.2.2) with a port. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/** Whether there is exactly one Host header with characters of a host (RFC 9112 section 3.2); HTTP/1.0 needs none. */
function hasOneHost(req: Request): boolean {
  let count = 0;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count <= 1 && (req.httpVersion === '1.0' || count === 1) && HOST.test(req.headers.host ?? '');
}

/** Refuses requests with an invalid request line or Host header. */
export const requestLine: RequestHandler = (req, _res, next) => {
  if (req.url.length > URL_LENGTH_MAX) throw badRequest(`The URL has more than ${URL_LENGTH_MAX} characters`);
  if (!hasOneHost(req)) throw badRequest('The Host header must name exactly one host');
  next();
};
