import type { Express, Request, Response } from 'express';
import type { z } from 'zod';
import { AppError, badRequest, validationError } from '../../shared/pure/app-error.ts';
import { ERROR_CATALOGUE } from '../../shared/pure/error-catalogue.ts';
import { CHECKS } from '../../shared/pure/schema-messages.ts';
import { createYields } from '../../shared/platform/yielding.ts';
import { createIdempotencyClaims } from '../../shared/domain/idempotency/claims.ts';
import type { IdempotencyClaim } from '../../shared/domain/idempotency/idempotency.ts';
import type { Em } from '../../shared/database/sql.ts';
import { admit, assertFields } from './admit.ts';
import type { Authenticator } from './authenticator.ts';
import type { HandlerDeps, RequestContext } from './context.ts';
import type { Endpoint, FlatRequirement } from './endpoint.ts';
import { errorEnvelope, requestIdOf, sendError, toAppError } from './error-envelope.ts';
import { fieldErrorsOf, parseInput } from './field-errors.ts';
import { addressOfRequest } from './guests.ts';
import { handleRequest, keyReused } from './handle-request.ts';
import { ignoredFields, setIgnoredFields } from './ignored-fields.ts';
import { createJsonBody } from './json-body.ts';
import { stringifyReply } from './json-reply.ts';
import { itemOf, locationOf } from './location.ts';
import type { Load } from './load.ts';
import { mountRefusedMethods, pathsInOrder } from './methods.ts';
import { auditOf, createAuditRecorder, type AuditRecorder } from './request-audit.ts';
import { envelopeOf, sendReply, sendStream } from './send-reply.ts';
import { assertStorable } from './storable.ts';
import { traceRequest } from './trace-request.ts';
import { assertStillThere, bodyBytesMaxOf, inTurn, readBody, reservePage, type Incoming } from './request-resources.ts';

const ROLE_REFUSED_STATUS = ERROR_CATALOGUE.ROLE_REFUSED.status;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

function readIdempotencyKey(req: Request): string | undefined {
  const key = req.get('idempotency-key');
  if (key === undefined) return undefined;
  if (!IDEMPOTENCY_KEY.test(key)) {
    throw badRequest('The Idempotency-Key header must be 1 to 255 printable ASCII characters');
  }
  return key;
}

function parse<T>(schema: z.ZodType<T> | undefined, input: unknown): T {
  return schema ? parseInput(schema, input) : (input as T);
}

function parseParams(definition: Endpoint, input: unknown): unknown {
  if (!definition.params) return input;
  const result = definition.params.safeParse(input, CHECKS);
  if (result.success) return result.data;
  if (definition.malformedIdCode && definition.malformedIdCode !== 'VALIDATION_ERROR')
    throw new AppError(definition.malformedIdCode);
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

interface Outcome {
  status: number;
  send: () => unknown;
}

type MountDeps = HandlerDeps & { authenticator: Authenticator; load: Load };

interface ServeDeps extends MountDeps {
  recordAudit: AuditRecorder;
  claims: ReturnType<typeof createIdempotencyClaims>;
  /** For each endpoint that creates records, the endpoint whose path names one of them. */
  items: ReadonlyMap<Endpoint, Endpoint>;
}

function assertInputStorable({ definition, req, body }: Incoming): void {
  assertStorable(req.params);
  assertStorable(req.query);
  if (!definition.multipart) assertStorable(body);
}

async function answer(incoming: Incoming, deps: ServeDeps, claim?: IdempotencyClaim): Promise<Outcome> {
  const { definition, caller, req, res, body } = incoming;
  let em: Em | undefined;
  const yieldIfDue = createYields();
  try {
    const params = parseParams(definition, req.params);
    assertInputStorable(incoming);
    assertFields(definition, caller.key, body);
    await yieldIfDue();
    const unmet = unmetRequirement(definition.flatRequirements, body);
    if (unmet !== undefined) return { status: 400, send: () => res.status(400).json({ error: unmet }) };
    const rules = caller.project.publicKeyRules;
    const ignored = ignoredFields(definition, { body, query: req.query, rules });
    setIgnoredFields(res, ignored);
    await yieldIfDue();
    const context: RequestContext<unknown, unknown, unknown> = {
      project: caller.project,
      key: caller.key,
      params,
      query: parse(definition.query, req.query),
      body: definition.multipart ? body : parse(definition.body, body),
      // Made on first use, because grouped requests use that of their group.
      get em() {
        return (em ??= deps.orm.em.fork());
      },
      deps,
      requestId: requestIdOf(res),
      keyKind: caller.isPublic ? 'public' : 'secret',
      clientAddress: addressOfRequest(req),
      claim,
      audit: incoming.audit,
      noteIgnored(fields) {
        ignored.push(...fields.filter((field) => !ignored.includes(field)));
        setIgnoredFields(res, ignored);
      },
      wantsCsv: (format) => (format ?? req.accepts(['json', 'csv'])) === 'csv',
    };
    const reply = await handleRequest(definition, requestLine(req, definition), context);
    const item = reply.status === 201 ? deps.items.get(definition) : undefined;
    const location = item && locationOf(item, req.params, reply.data);
    if (location) res.setHeader('Location', location);
    const { stream } = reply;
    if (stream) return { status: reply.status, send: () => sendStream(incoming, deps, stream) };
    const parts = reply.data === undefined ? [] : await stringifyReply(envelopeOf(definition, reply, ignored));
    return { status: reply.status, send: () => sendReply(incoming, deps.load, reply.status, parts) };
  } catch (error) {
    return { status: toAppError(error).statusCode, send: () => sendError(req, res, error, deps.logger) };
  }
}

/** Answers a request in a turn of its project. @throws AppError when the project gets none, or the client has gone */
async function answerInTurn(incoming: Incoming, deps: ServeDeps, claim?: IdempotencyClaim): Promise<Outcome> {
  const { definition, caller, req } = incoming;
  return inTurn(definition, caller.project.id, deps.load, () => {
    assertStillThere(req);
    return answer(incoming, deps, claim);
  });
}

async function answerOnce(key: string, incoming: Incoming, deps: ServeDeps): Promise<Outcome> {
  const { definition, caller, req, res } = incoming;
  const request = requestLine(req, definition);
  const claimed = await deps.claims.claim({
    projectId: caller.project.id,
    key,
    isPublic: caller.isPublic,
    request,
  });
  if ('original' in claimed) {
    const conflict = keyReused(key, claimed.original);
    return { status: 409, send: () => res.status(409).json(errorEnvelope(conflict, requestIdOf(res))) };
  }
  try {
    const outcome = await answerInTurn(incoming, deps, claimed.claim);
    if (outcome.status >= 400) await deps.claims.release(claimed.claim);
    return outcome;
  } catch (error) {
    await deps.claims.release(claimed.claim);
    throw error;
  }
}

/**
 * Serves a request. First a small body is parsed, so that one that is not JSON is refused even without a key. Then come
 * the key and the rate limit, then everything that costs more, within the project's share of the resources.
 */
async function serve(definition: Endpoint, req: Request, res: Response, deps: ServeDeps): Promise<void> {
  const startedAt = performance.now();
  const { authenticator, load } = deps;
  const json =
    definition.method === 'get' || definition.multipart
      ? undefined
      : createJsonBody(req, res, { bytesMax: bodyBytesMaxOf(definition), base64At: definition.base64At });
  await json?.readEarly();
  const caller = await admit(definition, req, res, authenticator, (refused) =>
    deps.recordAudit(auditOf(definition, refused, req, res), ROLE_REFUSED_STATUS),
  );
  const audit = auditOf(definition, caller, req, res);
  const key = definition.isIdempotent ? readIdempotencyKey(req) : undefined;
  const body = await readBody({ definition, caller, req, res }, json, load);
  const releasePage = await reservePage(definition, caller.project.id, load);
  let outcome: Outcome;
  try {
    const incoming = { definition, caller, req, res, body, audit };
    outcome = key === undefined ? await answerInTurn(incoming, deps) : await answerOnce(key, incoming, deps);
    await deps.recordAudit(audit, outcome.status);
    await outcome.send();
  } finally {
    releasePage();
  }
  deps.logger.debug(
    {
      requestId: requestIdOf(res),
      projectId: caller.project.id,
      method: req.method,
      path: definition.path,
      status: outcome.status,
      durationMs: Math.round(performance.now() - startedAt),
    },
    'request',
  );
}

/** Mounts endpoints. Every request with a key takes this path to its handler and back. */
export function mountEndpoints(app: Express, endpoints: Endpoint[], deps: MountDeps): void {
  const claims = createIdempotencyClaims({
    em: () => deps.orm.em.fork(),
    slots: deps.load.slots,
    ttlHours: deps.config.IDEMPOTENCY_TTL_HOURS,
  });
  const items = new Map(
    endpoints.flatMap((definition): [Endpoint, Endpoint][] => {
      const item = itemOf(definition, endpoints);
      return item ? [[definition, item]] : [];
    }),
  );
  const serveDeps = { ...deps, claims, items, recordAudit: createAuditRecorder(deps) };
  for (const path of pathsInOrder(endpoints)) {
    for (const definition of endpoints.filter((declared) => declared.path === path)) {
      app[definition.method](path, (req: Request, res: Response) =>
        traceRequest(definition, req, res, () => serve(definition, req, res, serveDeps)),
      );
    }
    mountRefusedMethods(app, path, endpoints);
  }
}
