import { AppError } from '../../shared/pure/app-error.ts';
import { inTransaction } from '../../shared/database/sql.ts';
import { recordAudit } from '../../shared/domain/audit/audit.ts';
import { settleIdempotencyKeys, type OriginalRequest } from '../../shared/domain/idempotency/idempotency.ts';
import { keepTraceContexts } from '../../shared/durable/outbox/trace-contexts.ts';
import { activeTraceParent } from '../../shared/platform/tracing/spans.ts';
import type { RequestContext } from './context.ts';
import type { Endpoint, Reply } from './endpoint.ts';

/** The error for an idempotency key that another request has. */
export function keyReused(key: string, original: OriginalRequest): AppError {
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
 * Handles a request in one transaction with the result of its idempotency key. A process that dies before the commit
 * has changed nothing, and the request can be repeated under the same key. The transaction also keeps the trace
 * context, so the workflows that the request leads to find it, and records a writing request.
 */
async function handleInTransaction(
  definition: Endpoint,
  context: RequestContext<unknown, unknown, unknown>,
): Promise<Reply> {
  const { audit, claim } = context;
  const reply = await inTransaction(context.em, async (em) => {
    const result = await definition.handle({ ...context, em });
    if (definition.subjects) await keepTraceContexts(em, definition.subjects(result.data as never, context.params));
    if (claim) await settleIdempotencyKeys(em, [claim], result.status);
    if (audit) await recordAudit(em, [audit.entryOf(result.status, result.data)]);
    return result;
  });
  if (audit) audit.isRecorded = true;
  return reply;
}

/** Whether workflows continue the trace of the current request. */
function isTraceContinued({ subjects }: Endpoint): boolean {
  return subjects !== undefined && activeTraceParent() !== undefined;
}

/**
 * Whether a writing request is recorded in its own transaction. One that asks other servers, or changes much in steps,
 * is recorded after it: it would hold a connection or its locks for too long.
 */
function isRecordedTogether({ isRemote, isHeavy, subjects, commitsInSteps }: Endpoint): boolean {
  return !isRemote && !commitsInSteps && (!isHeavy || subjects !== undefined);
}

/** Handles a request, settles its idempotency key, and keeps its trace context; a group of requests does so at once. */
export async function handleRequest(
  definition: Endpoint,
  request: string,
  context: RequestContext<unknown, unknown, unknown>,
): Promise<Reply> {
  const { claim, audit } = context;
  const isTogether = audit !== undefined && isRecordedTogether(definition);
  const isAlone = !definition.isGrouped && (claim !== undefined || isTraceContinued(definition) || isTogether);
  try {
    if (isAlone) return await handleInTransaction(definition, context);
    const reply = await definition.handle(context);
    audit?.entryOf(reply.status, reply.data);
    return reply;
  } catch (error) {
    if (!claim || !(error instanceof AppError) || error.code !== 'IDEMPOTENCY_KEY_REUSED') throw error;
    throw keyReused(claim.key, { request, at: claim.claimedAt, statusCode: null });
  }
}
