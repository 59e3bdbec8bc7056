import type { Request, RequestHandler } from 'express';
import { badRequest } from '../../shared/pure/app-error.ts';

/** Room for a search of 500 characters, each of them percent-encoded, beside everything else that a query may hold. */
const URL_LENGTH_MAX = 8 * 1024;
/** RFC 3986 section 3.2.2, with a port; which of these a host really is made of does not matter here. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/** RFC 9112 section 3.2: one Host, and one that can be a host. */
function hasOneHost(req: Request): boolean {
  const hosts = req.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
  return hosts.length <= 1 && (req.httpVersion === '1.0' || hosts.length === 1) && HOST.test(req.headers.host ?? '');
}

/** Refuses requests whose first lines nobody needs to understand. */
export const requestLine: RequestHandler = (req, _res, next) => {
  if (req.url.length > URL_LENGTH_MAX) throw badRequest(`The URL has more than ${URL_LENGTH_MAX} characters`);
  if (!hasOneHost(req)) throw badRequest('The Host header is not one host');
  next();
};
