import type { Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import type { NamedRole } from '../../shared/pure/key-roles.ts';
import type { RequestKey } from './context.ts';
import type { Authenticator, Caller } from './authenticator.ts';
import { proveConnection } from './connections.ts';
import { keyKindOf, rolesOf, type Endpoint } from './endpoint.ts';
import { toAppError } from './error-envelope.ts';
import type { RateState } from './rate-limit.ts';
import { clientOfRequest, giveBackUnits } from './guests.ts';

function setRateHeaders(res: Response, rate: Omit<RateState, 'isExceeded'>): void {
  res.setHeader('RateLimit-Limit', String(rate.limit));
  res.setHeader('RateLimit-Remaining', String(rate.remaining));
  res.setHeader('RateLimit-Reset', String(rate.resetSeconds));
}

/** What of an endpoint decides whether a caller may call it. */
export type Admission = Pick<Endpoint, 'roles' | 'path' | 'method'>;

/** The refusal of a caller whose role may not call an endpoint. It names the roles that would do. */
function roleRefusal(definition: Admission, { key: { role }, project }: Caller): AppError | undefined {
  const roles = rolesOf(definition);
  // The authenticator lets a secret key pass at an endpoint for public ones where the project accepts that.
  if (roles.includes(role) || (keyKindOf(definition) === 'public' && role === 'full')) return undefined;
  const { method, path } = definition;
  return new AppError('ROLE_REFUSED', {
    message: `A key with the role "${role}" may not call ${method.toUpperCase()} ${path}`,
    details: { role, roles },
    suggestion: `Use a key of project "${project.name}" with the role ${roles.join(' or ')}`,
  });
}

/** @throws AppError ROLE_REFUSED that names the roles that would do */
export function assertRole(definition: Admission, caller: Caller): void {
  const refusal = roleRefusal(definition, caller);
  if (refusal) throw refusal;
}

/** @throws AppError ROLE_REFUSED for fields of a body that the role may not send */
export function assertFields({ roles, fields }: Endpoint, { role }: RequestKey, body: unknown): void {
  const allowed = fields && roles.some((each) => each === role) ? fields[role as NamedRole] : undefined;
  if (!allowed || typeof body !== 'object' || body === null) return;
  const refused = Object.keys(body).filter((field) => !allowed.includes(field));
  if (refused.length === 0) return;
  throw new AppError('ROLE_REFUSED', {
    message: `A key with the role "${role}" may change ${allowed.join(', ')} here, not ${refused.join(', ')}`,
    details: { role, roles: rolesOf({ roles }).filter((each) => each !== role), fields: refused },
  });
}

function assertMayCall(caller: Caller, res: Response): void {
  const { project, rate } = caller;
  if (rate) setRateHeaders(res, rate);
  if (project.disabled) throw new AppError('PROJECT_DISABLED', { suggestion: 'Ask the operator to enable it' });
  if (rate?.isExceeded) {
    const retryAfter = rate.resetSeconds;
    throw new AppError('RATE_LIMIT_EXCEEDED', {
      message: `More than ${rate.limit} requests in this minute`,
      details: { limit: rate.limit, retryAfter },
      suggestion: `Try again in ${retryAfter} seconds`,
    });
  }
}

/** Finds the caller. A key that could not be looked up may be valid, so its request is not counted as a guest's. */
async function authenticate(
  definition: Admission,
  req: Request,
  res: Response,
  authenticator: Authenticator,
): Promise<Caller> {
  try {
    const request = { authorization: req.get('authorization'), client: clientOfRequest(req) };
    return await authenticator.authenticate(request, keyKindOf(definition), definition.path);
  } catch (error) {
    const { code, details } = toAppError(error);
    if (code !== 'INVALID_API_KEY' && code !== 'RATE_LIMIT_EXCEEDED') giveBackUnits(req, 'doubt');
    if (code === 'RATE_LIMIT_EXCEEDED') {
      const [limit, resetSeconds] = [Number(details?.['limit']), Number(details?.['retryAfter'])];
      setRateHeaders(res, { limit, remaining: 0, resetSeconds });
    }
    throw error;
  }
}

/**
 * Lets a request in whose key is valid, enabled, within its rate limit, and of a role that may call the endpoint. Its
 * answer may hold personal data, so no cache stores it.
 * @throws AppError INVALID_API_KEY, PROJECT_DISABLED, RATE_LIMIT_EXCEEDED, ROLE_REFUSED
 */
export async function admit(
  definition: Admission,
  req: Request,
  res: Response,
  authenticator: Authenticator,
  onRoleRefused?: (caller: Caller) => Promise<void>,
): Promise<Caller> {
  res.setHeader('Cache-Control', 'no-store');
  const caller = await authenticate(definition, req, res, authenticator);
  proveConnection(req.socket);
  assertMayCall(caller, res);
  giveBackUnits(req, 'key');
  const refusal = roleRefusal(definition, caller);
  if (refusal) {
    await onRoleRefused?.(caller);
    throw refusal;
  }
  return caller;
}
