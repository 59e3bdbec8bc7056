import type { Express, RequestHandler } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import type { Endpoint } from './endpoint.ts';

const isParameter = (part: string | undefined): boolean => part?.startsWith(':') ?? false;

/** The properties of an endpoint that say which requests it takes. */
type Declared = Pick<Endpoint, 'path' | 'method' | 'malformedIdCode'>;

/**
 * Whether a requested path fits an endpoint. A part that is fixed in `own`, the path that Express has matched, is not
 * taken for an id: `/contacts/lookup` does not fit `/contacts/:id`.
 */
function fits(requested: string, own: string, { path, malformedIdCode }: Declared): boolean {
  const parts = requested.split('/');
  const ownParts = own.split('/');
  const declared = path.split('/');
  return (
    parts.length === declared.length &&
    declared.every((part, n) =>
      isParameter(part) ? malformedIdCode === undefined || isParameter(ownParts[n]) : part === parts[n],
    )
  );
}

function refuseMethods(path: string, endpoints: Declared[]): RequestHandler {
  const own = endpoints.filter((definition) => definition.path === path);
  return (req, res, next) => {
    const others = endpoints.filter((definition) => definition.path !== path && fits(req.path, path, definition));
    if (others.some(({ method }) => method === req.method.toLowerCase())) {
      next();
      return;
    }
    const allowed = [...new Set([...own, ...others].map(({ method }) => method.toUpperCase()))];
    res.setHeader('Allow', (allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed).join(', '));
    if (req.method !== 'OPTIONS') {
      throw new AppError('METHOD_NOT_ALLOWED', { message: `${path} takes ${allowed.join(', ')}, not ${req.method}` });
    }
    res.status(204).end();
  };
}

/** Paths in the order in which they are matched: `/contacts/lookup` before `/contacts/:id`. */
export function pathsInOrder(endpoints: Endpoint[]): string[] {
  const count = (path: string): number => path.split('/').filter(isParameter).length;
  return [...new Set(endpoints.map(({ path }) => path))].sort((left, right) => count(left) - count(right));
}

/**
 * Answers a method that a declared path does not have: 405 with `Allow` (RFC 9110 section 15.5.6), and `OPTIONS` with
 * 204. Mount it behind the endpoints of `path`, and before those of the paths that come later.
 */
export function mountRefusedMethods(app: Express, path: string, endpoints: Declared[]): void {
  app.all(path, refuseMethods(path, endpoints));
}
