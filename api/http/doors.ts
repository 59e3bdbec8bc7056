import type { Request, RequestHandler } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import type { Config } from '../../shared/platform/config.ts';
import { comparableHost } from '../../shared/platform/config-lists.ts';
import { keyKindOf, type Endpoint } from './endpoint.ts';

/** What load balancers ask for, under any name. */
const HEALTH_PATHS = new Set(['/health', '/ready']);
/** Pages and links for recipients. */
const RECIPIENT_PATH = /^\/(?:unsubscribe|subscribe|subscribe-form|confirm|manage|view|archive|t)(?:\/|$)/i;

/** Whether a path is for recipients of email. */
export function isRecipientPath(path: string): boolean {
  return RECIPIENT_PATH.test(path);
}

/** A host name as requests are compared by it: without a port and a final dot. */
function nameOf(host: string): string {
  return comparableHost(host.replace(/:\d*$/, '').replace(/\.$/, '')) ?? '';
}

/** The host that a request asks for: where its target names one, the header does not count (RFC 9112 section 3.2.2). */
function hostOf({ url, headers }: Request): string {
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? headers.host ?? '';
}

/**
 * Lets each host name answer what it is for, when ADMIN_HOSTS names some: the console, the docs and calls with secret keys
 * answer only there. Links of recipients answer only at the host of PUBLIC_URL if that is none of them. Calls with the
 * public key answer at both, because pages of visitors make them. Everything else does not exist under a name.
 */
export function createDoors(
  { ADMIN_HOSTS: adminHosts, publicUrl }: Pick<Config, 'ADMIN_HOSTS' | 'publicUrl'>,
  endpoints: readonly Endpoint[],
): RequestHandler {
  const publicHost = nameOf(new URL(publicUrl).host);
  const isShared = adminHosts.length === 0 || adminHosts.includes(publicHost);
  const publicPaths = new Set(endpoints.filter((each) => keyKindOf(each) === 'public').map(({ path }) => path));

  function isOpen(path: string, host: string): boolean {
    if (adminHosts.length === 0 || HEALTH_PATHS.has(path)) return true;
    if (isRecipientPath(path)) return isShared || host === publicHost;
    return adminHosts.includes(host) || (publicPaths.has(path) && host === publicHost);
  }

  return (req, _res, next) => {
    if (isOpen(req.path, nameOf(hostOf(req)))) next();
    else throw new AppError('RESOURCE_NOT_FOUND', { message: `There is no endpoint ${req.method} ${req.path}` });
  };
}
