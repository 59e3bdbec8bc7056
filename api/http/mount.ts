import type { Express, Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import { AppError, badRequest, validationError } from '../../shared/pure/app-error.ts';
import { createIdempotencyClaims } from '../../shared/domain/idempotency/claims.ts';
import {
  settleIdempotencyKey,
  type IdempotencyClaim,
  type OriginalRequest,
} from '../../shared/domain/idempotency/idempotency.ts';
import type { Admission, Admissions, RateState } from './admission.ts';
import type { ApiDeps, RequestContext } from './context.ts';
import type { Endpoint, FlatRequirement, Reply } from './endpoint.ts';
import { errorEnvelope, requestIdOf, sendError, toAppError } from './error-envelope.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { assertStorable, jsonBody } from './json-body.ts';
import { readMultipart } from './multipart-body.ts';
import { inTransaction } from '../../shared/domain/transaction.ts';

/** Templates and campaigns carry whole HTML documents. */
const BODY_BYTES_DEFAULT = 5 * 1024 * 1024;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

function setRateHeaders(res: Response, rate: RateState): void {
  res.setHeader('RateLimit-Limit', String(rate.limit));
  res.setHeader('RateLimit-Remaining', String(rate.remaining));
  res.setHeader('RateLimit-Reset', String(rate.resetSeconds));
}

function assertAdmitted(admission: Admission, res: Response): void {
  const { project, rate } = admission;
  if (rate) setRateHeaders(res, rate);
  if (project.disabled) {
    throw new AppError('PROJECT_DISABLED', { suggestion: 'Ask the operator to enable it' });
  }
  if (rate?.isExceeded) {
    const retryAfter = rate.resetSeconds;
    throw new AppError('RATE_LIMIT_EXCEEDED', {
      message: `More than ${rate.limit} requests in this minute`,
      details: { limit: rate.limit, retryAfter },
      suggestion: `Try again in ${retryAfter} seconds`,
    });
  }
}

function readIdempotencyKey(req: Request): string | undefined {
  const key = req.get('idempotency-key');
  if (key === undefined) return undefined;
  if (!IDEMPOTENCY_KEY.test(key)) {
    throw badRequest('The Idempotency-Key header must be 1 to 255 printable ASCII characters');
  }
  return key;
}

function parse<T>(schema: z.ZodType<T> | undefined, input: unknown): T {
  if (!schema) return input as T;
  const result = schema.safeParse(input, { reportInput: true });
  if (!result.success) throw validationError(fieldErrorsOf(result.error));
  return result.data;
}

function parseParams(definition: Endpoint, input: unknown): unknown {
  if (!definition.params) return input;
  const result = definition.params.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  if (definition.badIdIs && definition.badIdIs !== 'VALIDATION_ERROR') throw new AppError(definition.badIdIs);
  throw validationError(fieldErrorsOf(result.error));
}

function unmetRequirement(requirements: FlatRequirement[] | undefined, body: unknown): string | undefined {
  if (!requirements) return undefined;
  const record = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  return requirements.find((requirement) => !requirement.isMet(record))?.message;
}

function requestLine(req: Request, definition: Endpoint): string {
  return `${req.method} ${definition.path}`;
}

function sendReply(res: Response, definition: Endpoint, reply: Reply): void {
  res.status(reply.status);
  if (reply.data === undefined) {
    res.end();
  } else if (definition.envelope) {
    res.json({ success: true, data: reply.data, ...(reply.message !== undefined && { message: reply.message }) });
  } else {
    res.json(reply.data);
  }
}

/** A file is read after the key has been looked at, JSON before it: what is not JSON is refused whoever sends it. */
function bodyReaders(definition: Endpoint): RequestHandler[] {
  if (definition.method === 'get' || definition.multipart) return [];
  return jsonBody(definition.bodyBytesMax ?? BODY_BYTES_DEFAULT);
}

interface Outcome {
  status: number;
  send: () => void;
}

function keyReused(key: string, original: OriginalRequest): AppError {
  return new AppError('IDEMPOTENCY_KEY_REUSED', {
    details: {
      key,
      originalRequest: original.request,
      originalRequestAt: original.at.toISOString(),
      originalStatusCode: original.statusCode,
    },
    suggestion: 'Use a new Idempotency-Key for a new request',
  });
}

/**
 * Handles a request in one transaction with the note that it has been: who dies before the end has done nothing, and
 * the key is free for the repetition. The dispatcher is told when there is something to see.
 */
async function handleOnce(
  claim: IdempotencyClaim,
  request: string,
  context: RequestContext<unknown, unknown, unknown>,
  handle: Endpoint['handle'],
): Promise<Reply> {
  let wakeups: (number | undefined)[] = [];
  const deps = { ...context.deps, wakeDispatcher: (withinMs?: number) => void wakeups.push(withinMs) };
  const reply = await inTransaction(context.em, async (em) => {
    wakeups = [];
    const result = await handle({ ...context, em, deps });
    if (await settleIdempotencyKey(em, claim, result.status)) return result;
    throw keyReused(claim.key, { request, at: claim.claimedAt, statusCode: null });
  });
  for (const withinMs of wakeups) context.deps.wakeDispatcher(withinMs);
  return reply;
}

/** Mounts endpoints: the one path from a request to a handler and back. */
export function mountEndpoints(app: Express, endpoints: Endpoint[], deps: ApiDeps, admissions: Admissions): void {
  const claims = createIdempotencyClaims({
    em: () => deps.orm.em.fork(),
    ttlHours: deps.config.IDEMPOTENCY_TTL_HOURS,
  });

  async function answer(
    definition: Endpoint,
    admission: Admission,
    req: Request,
    res: Response,
    claim?: IdempotencyClaim,
  ): Promise<Outcome> {
    try {
      const params = parseParams(definition, req.params);
      assertStorable(req.params);
      assertStorable(req.query);
      const unmet = unmetRequirement(definition.flatRequirements, req.body);
      if (unmet !== undefined) return { status: 400, send: () => res.status(400).json({ error: unmet }) };
      const context: RequestContext<unknown, unknown, unknown> = {
        project: admission.project,
        params,
        query: parse(definition.query, req.query),
        body: definition.multipart ? await readMultipart(req, definition.multipart) : parse(definition.body, req.body),
        em: deps.orm.em.fork(),
        deps,
        requestId: requestIdOf(res),
      };
      const reply = claim
        ? await handleOnce(claim, requestLine(req, definition), context, definition.handle)
        : await definition.handle(context);
      return { status: reply.status, send: () => sendReply(res, definition, reply) };
    } catch (error) {
      return { status: toAppError(error).statusCode, send: () => sendError(req, res, error, deps.logger) };
    }
  }

  async function answerOnce(
    key: string,
    definition: Endpoint,
    admission: Admission,
    req: Request,
    res: Response,
  ): Promise<Outcome> {
    const request = requestLine(req, definition);
    const claimed = await claims.claim({ projectId: admission.project.id, key, request });
    if ('original' in claimed) {
      const conflict = keyReused(key, claimed.original);
      return { status: 409, send: () => res.status(409).json(errorEnvelope(conflict, requestIdOf(res))) };
    }
    const outcome = await answer(definition, admission, req, res, claimed.claim);
    if (outcome.status >= 400) await claims.release(claimed.claim);
    return outcome;
  }

  for (const definition of endpoints) {
    app[definition.method](definition.path, ...bodyReaders(definition), async (req: Request, res: Response) => {
      const startedAt = performance.now();
      const admission = await admissions.admit(req.get('authorization'), definition.key, definition.path);
      assertAdmitted(admission, res);
      const key = definition.idempotent ? readIdempotencyKey(req) : undefined;
      const outcome =
        key === undefined
          ? await answer(definition, admission, req, res)
          : await answerOnce(key, definition, admission, req, res);
      outcome.send();
      deps.logger.debug(
        {
          requestId: requestIdOf(res),
          projectId: admission.project.id,
          method: req.method,
          path: definition.path,
          status: outcome.status,
          durationMs: Math.round(performance.now() - startedAt),
        },
        'request',
      );
    });
  }
}
