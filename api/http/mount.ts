import type { Express, Request, Response } from 'express';
import { z } from 'zod';
import { AppError, badRequest, validationError } from '../../shared/pure/app-error.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { createIdempotencyClaims } from '../../shared/domain/idempotency/claims.ts';
import {
  settleIdempotencyKeys,
  type IdempotencyClaim,
  type OriginalRequest,
} from '../../shared/domain/idempotency/idempotency.ts';
import type { Em } from '../../shared/domain/database/em.ts';
import type { Admission, Admissions } from './admission.ts';
import { proveConnection } from './connections.ts';
import type { HandlerDeps, RequestContext } from './context.ts';
import { sendCsv, type CsvReply } from './csv-reply.ts';
import type { Endpoint, FlatRequirement, Reply } from './endpoint.ts';
import { errorEnvelope, requestIdOf, sendError, toAppError } from './error-envelope.ts';
import { fieldErrorsOf } from './field-errors.ts';
import { contentCodingOf } from './body-reader.ts';
import { IGNORED_FIELDS_HEADER, ignoredFields } from './ignored-fields.ts';
import { contentLengthOf, createJsonBody, EARLY_BYTES_MAX, type JsonBody } from './json-body.ts';
import { lengthOf, sendJson, stringifyReply } from './json-reply.ts';
import { itemOf, locationOf } from './location.ts';
import type { Load } from './load.ts';
import { formBytesMax, readMultipart } from './multipart-body.ts';
import { mountRefusedMethods, pathsInOrder } from './methods.ts';
import type { RateState } from './rate-limit.ts';
import { spareRequest } from './strangers.ts';
import { assertStorable } from './storable.ts';
import { inTransaction } from '../../shared/domain/database/transaction.ts';
import { keepTraceContexts } from '../../shared/domain/outbox/trace-contexts.ts';
import { activeTraceParent } from '../../shared/platform/tracing/spans.ts';
import { traceRequest } from './trace-request.ts';

/** Templates and campaigns carry whole HTML documents. */
const BODY_BYTES_DEFAULT = 5 * 1024 * 1024;
/** Answers above this size are counted until they have been read. */
const LARGE_ANSWER_BYTES = 256 * 1024;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** The public key is in every page, so it may send no more than this. */
const PUBLIC_BODY_BYTES_MAX = 64 * 1024;

function bodyBytesMaxOf({ key, bodyBytesMax }: Endpoint): number {
  return key === 'public' ? PUBLIC_BODY_BYTES_MAX : (bodyBytesMax ?? BODY_BYTES_DEFAULT);
}

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

/** The body of a reply on the wire; undefined when it has none. */
function envelopeOf(definition: Endpoint, { data, message }: Reply): unknown {
  if (data === undefined || !definition.envelope) return data;
  return { success: true, data, ...(message !== undefined && { message }) };
}

/** Releases when the answer has been read, or never will be. */
function releaseAfter(res: Response, release: () => void): void {
  if (res.closed) release();
  else res.once('close', release);
}

/** The most octets that the body of a request can have. */
function expectedOctets(req: Request, bytesMax: number): number {
  const length = contentLengthOf(req);
  if (length === undefined && req.headers['transfer-encoding'] === undefined) return 0;
  return length === undefined || contentCodingOf(req) !== undefined ? bytesMax : Math.min(length, bytesMax);
}

interface Outcome {
  status: number;
  send: () => unknown;
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
 * Handles a request in one transaction with the result of its idempotency key: a process that dies before the commit
 * has done nothing, and the key is free for the repetition. Its trace is noted there, too, before anybody can take up
 * what it leaves. Wakes the dispatcher afterwards if necessary.
 */
async function handleInTransaction(
  definition: Endpoint,
  context: RequestContext<unknown, unknown, unknown>,
): Promise<Reply> {
  let wakeups: (number | undefined)[] = [];
  const deps = { ...context.deps, wakeDispatcher: (withinMs?: number) => void wakeups.push(withinMs) };
  const reply = await inTransaction(context.em, async (em) => {
    wakeups = [];
    const result = await definition.handle({ ...context, em, deps });
    if (definition.subjects) await keepTraceContexts(em, definition.subjects(result.data as never, context.params));
    if (context.claim) await settleIdempotencyKeys(em, [context.claim], result.status);
    return result;
  });
  for (const withinMs of wakeups) context.deps.wakeDispatcher(withinMs);
  return reply;
}

/** Whether what the request leaves to workflows is a part of its trace. */
function isFollowed({ subjects }: Endpoint): boolean {
  return subjects !== undefined && activeTraceParent() !== undefined;
}

/**
 * Handles a request, settles its idempotency key, and notes its trace; a grouped request does so together with its group.
 */
async function handleRequest(
  definition: Endpoint,
  request: string,
  context: RequestContext<unknown, unknown, unknown>,
): Promise<Reply> {
  const { claim } = context;
  const isAlone = !definition.isGrouped && (claim !== undefined || isFollowed(definition));
  try {
    return await (isAlone ? handleInTransaction(definition, context) : definition.handle(context));
  } catch (error) {
    if (!claim || !(error instanceof AppError) || error.code !== 'IDEMPOTENCY_KEY_REUSED') throw error;
    throw keyReused(claim.key, { request, at: claim.claimedAt, statusCode: null });
  }
}

/** An admitted request with its body, still to be checked. */
interface Incoming {
  definition: Endpoint;
  admission: Admission;
  req: Request;
  res: Response;
  /** Parsed JSON, or an `UploadedFile`. */
  body: unknown;
}

interface MountDeps extends HandlerDeps {
  admissions: Admissions;
  load: Load;
}

interface ServeDeps extends MountDeps {
  claims: ReturnType<typeof createIdempotencyClaims>;
  /** For endpoints that create records: the endpoint that is about one of them. */
  items: ReadonlyMap<Endpoint, Endpoint>;
}

function setLocation(res: Response, location: string | undefined): void {
  if (location !== undefined) res.setHeader('Location', location);
}

function assertInputStorable({ definition, req, body }: Incoming): void {
  assertStorable(req.params);
  assertStorable(req.query);
  if (!definition.multipart) assertStorable(body);
}

async function answer(incoming: Incoming, deps: ServeDeps, claim?: IdempotencyClaim): Promise<Outcome> {
  const { definition, admission, req, res, body } = incoming;
  let em: Em | undefined;
  try {
    const params = parseParams(definition, req.params);
    assertInputStorable(incoming);
    const unmet = unmetRequirement(definition.flatRequirements, body);
    if (unmet !== undefined) return { status: 400, send: () => res.status(400).json({ error: unmet }) };
    const ignored = ignoredFields(definition, { body, query: req.query });
    if (ignored.length > 0) res.setHeader(IGNORED_FIELDS_HEADER, ignored.join(', '));
    const context: RequestContext<unknown, unknown, unknown> = {
      project: admission.project,
      params,
      query: parse(definition.query, req.query),
      body: definition.multipart ? body : parse(definition.body, body),
      // Only where it is used: what grouped requests share has its own.
      get em() {
        return (em ??= deps.orm.em.fork());
      },
      deps,
      requestId: requestIdOf(res),
      claim,
      wantsCsv: (format) => (format ?? req.accepts(['json', 'csv'])) === 'csv',
    };
    const reply = await handleRequest(definition, requestLine(req, definition), context);
    const location = reply.status === 201 && deps.items.get(definition);
    if (location) setLocation(res, locationOf(location, req.params, reply.data));
    const { csv } = reply;
    if (csv) return { status: reply.status, send: () => sendTable(incoming, deps, csv) };
    const parts = reply.data === undefined ? [] : await stringifyReply(envelopeOf(definition, reply));
    return { status: reply.status, send: () => sendReply(incoming, deps.load, reply.status, parts) };
  } catch (error) {
    return { status: toAppError(error).statusCode, send: () => sendError(req, res, error, deps.logger) };
  }
}

/** Answers a request in its project's turn. @throws AppError when there is no turn for it, or nobody to answer */
async function answerInTurn(incoming: Incoming, deps: ServeDeps, claim?: IdempotencyClaim): Promise<Outcome> {
  const { definition, admission, req } = incoming;
  const release = await takeTurn(definition, admission.project.id, deps.load);
  try {
    assertStillThere(req);
    return await answer(incoming, deps, claim);
  } finally {
    release();
  }
}

async function answerOnce(key: string, incoming: Incoming, deps: ServeDeps): Promise<Outcome> {
  const { definition, admission, req, res } = incoming;
  const request = requestLine(req, definition);
  const claimed = await deps.claims.claim({ projectId: admission.project.id, key, request });
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

function sendReply({ res, admission }: Incoming, load: Load, status: number, parts: Buffer[]): void {
  const length = lengthOf(parts);
  if (length > LARGE_ANSWER_BYTES) releaseAfter(res, load.octets.add(admission.project.id, length));
  res.status(status);
  if (length > 0) sendJson(res, parts);
  else res.end();
}

async function sendTable({ definition, admission, res }: Incoming, deps: ServeDeps, csv: CsvReply): Promise<void> {
  try {
    await sendCsv(res, csv, () => takeTurn(definition, admission.project.id, deps.load));
  } catch (error) {
    deps.logger.warn({ err: error, requestId: requestIdOf(res), path: definition.path }, 'a table was not sent whole');
  }
}

/** Reads the body of an admitted request, a large one when there is room for it. */
async function readBody(
  { definition, admission, req, res }: Omit<Incoming, 'body'>,
  json: JsonBody | undefined,
  load: Load,
): Promise<unknown> {
  const { multipart } = definition;
  const bytesMax = multipart ? formBytesMax(multipart) : bodyBytesMaxOf(definition);
  const octets = expectedOctets(req, bytesMax);
  const release = await load.octets.take(admission.project.id, octets > EARLY_BYTES_MAX ? octets : 0);
  releaseAfter(res, release);
  return multipart ? readMultipart(req, res, multipart) : json?.read();
}

/**
 * Waits until there is room for the largest page, where a page is asked for: clients that ask for many and read none must
 * not fill the memory. @returns ends the reservation, when the octets of the answer count instead
 */
async function reservePage({ query }: Endpoint, projectId: string, load: Load): Promise<() => void> {
  const isPage = query instanceof z.ZodObject && 'limit' in query.shape;
  return isPage ? load.octets.take(projectId, LIMITS.pageBytes) : () => undefined;
}

/** Waits until a request may use PostgreSQL, or another server. @returns ends its turn */
async function takeTurn(definition: Endpoint, projectId: string, load: Load): Promise<() => void> {
  if (definition.isGrouped) return load.groupedPlaces.take(projectId, 1);
  if (definition.isRemote) return load.remoteSlots.take(projectId, 1);
  if (definition.cost !== 'heavy') return load.slots.take(projectId, 1);
  const releaseHeavy = await load.heavySlots.take(projectId, 1);
  try {
    const release = await load.slots.take(projectId, 1);
    return () => {
      release();
      releaseHeavy();
    };
  } catch (error) {
    releaseHeavy();
    throw error;
  }
}

/** A client that has gone while its request waited is not served, because nobody would read the answer. */
function assertStillThere(req: Request): void {
  if (req.socket.destroyed) throw badRequest('The client has closed the connection');
}

/** A key that could not be looked up may be a good one, so its request is not counted as a stranger's. */
async function admit(definition: Endpoint, req: Request, admissions: Admissions): Promise<Admission> {
  try {
    return await admissions.admit(req.get('authorization'), definition.key, definition.path);
  } catch (error) {
    if (toAppError(error).code !== 'INVALID_API_KEY') spareRequest(req, 'doubt');
    throw error;
  }
}

/**
 * The way of a request. First a small body is parsed, so that a body that is not JSON is always refused. Then come key
 * and rate limit, then everything that costs more, within what its project may have under way at a time.
 */
async function serve(definition: Endpoint, req: Request, res: Response, deps: ServeDeps): Promise<void> {
  const startedAt = performance.now();
  const { admissions, load } = deps;
  const json =
    definition.method === 'get' || definition.multipart
      ? undefined
      : createJsonBody(req, res, { bytesMax: bodyBytesMaxOf(definition), base64At: definition.base64At });
  await json?.readEarly();
  const admission = await admit(definition, req, admissions);
  proveConnection(req.socket);
  assertAdmitted(admission, res);
  spareRequest(req, 'key');
  const key = definition.idempotent ? readIdempotencyKey(req) : undefined;
  const body = await readBody({ definition, admission, req, res }, json, load);
  const releasePage = await reservePage(definition, admission.project.id, load);
  let outcome: Outcome;
  try {
    const incoming = { definition, admission, req, res, body };
    outcome = key === undefined ? await answerInTurn(incoming, deps) : await answerOnce(key, incoming, deps);
    await outcome.send();
  } finally {
    releasePage();
  }
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
}

/** Mounts endpoints: the one path from a request to a handler and back. */
export function mountEndpoints(app: Express, endpoints: Endpoint[], deps: MountDeps): void {
  const claims = createIdempotencyClaims({
    em: () => deps.orm.em.fork(),
    takeTurn: (projectId) => deps.load.slots.take(projectId, 1),
    ttlHours: deps.config.IDEMPOTENCY_TTL_HOURS,
  });
  const items = new Map(
    endpoints.flatMap((definition): [Endpoint, Endpoint][] => {
      const item = itemOf(definition, endpoints);
      return item ? [[definition, item]] : [];
    }),
  );
  const serveDeps = { ...deps, claims, items };
  for (const path of pathsInOrder(endpoints)) {
    for (const definition of endpoints.filter((it) => it.path === path)) {
      app[definition.method](path, (req: Request, res: Response) =>
        traceRequest(definition, req, res, () => serve(definition, req, res, serveDeps)),
      );
    }
    mountRefusedMethods(app, path, endpoints);
  }
}
