import { setTimeout as delay } from 'node:timers/promises';
import type { Request } from 'express';
import { badRequest } from '../../shared/pure/app-error.ts';
import type { Authenticator } from './authenticator.ts';
import type { Load } from './load.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { requestIdOf, sendError } from './error-envelope.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import { ignoredFieldWarning } from './ignored-fields.ts';
import { lengthOf, sendJson } from './json-reply.ts';
import { inTurn, releaseAfter, type Incoming } from './request-resources.ts';
import { sendPieces, type StreamedReply } from './streamed-reply.ts';

/** How often the key of an answer that is sent piece by piece is asked for again. */
const KEY_CHECK_MS = 1_000;

/** The pause before an answer that has begun asks for a turn again. */
const TURN_PAUSE_MS = 500;

/** The octets of larger answers count against the project's share until the client has read them. */
const LARGE_ANSWER_BYTES = 256 * 1024;

/**
 * The body of a reply, in the envelope if the endpoint has one; undefined when there is none.
 * @param ignored the fields of the request that were ignored
 */
export function envelopeOf(definition: Endpoint, { data, message }: Reply, ignored: readonly string[]): unknown {
  if (data === undefined || !definition.hasEnvelope) return data;
  const warnings = definition.hasWarnings ? ignored.map(ignoredFieldWarning) : [];
  return {
    success: true,
    data,
    ...(message !== undefined && { message }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Sends a JSON reply, or one without a body. */
export function sendReply({ res, caller }: Incoming, load: Load, status: number, parts: Buffer[]): void {
  const length = lengthOf(parts);
  if (length > LARGE_ANSWER_BYTES) releaseAfter(res, load.octets.add(caller.project.id, length));
  res.status(status);
  if (length > 0) sendJson(res, parts);
  else res.end();
}

/** Waits for a turn of the project, and again when it was refused one: the answer has begun, and its client waits. */
async function inSomeTurn<Result>(
  { definition, caller, res }: Incoming,
  load: Load,
  work: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    const turn = { hasBegun: false };
    const begin = (): Promise<Result> => {
      turn.hasBegun = true;
      return work();
    };
    try {
      return await inTurn(definition, caller.project.id, load, begin);
    } catch (error) {
      if (turn.hasBegun || !res.headersSent || res.destroyed) throw error;
      await delay(TURN_PAUSE_MS);
    }
  }
}

/**
 * Refuses HTTP/1.0 for files of rows: there the end of a file is the end of the connection, and that of a part, too.
 * @throws AppError BAD_REQUEST
 */
function assertEndIsSeen({ httpVersion }: Request, { isRows }: StreamedReply): void {
  if (!isRows || httpVersion !== '1.0') return;
  throw badRequest('A file of rows is not sent over HTTP/1.0, where a part of it looks like the whole', {
    suggestion: 'Use HTTP/1.1; a proxy before the API may need to be told (nginx: `proxy_http_version 1.1`)',
  });
}

/**
 * Sends a reply piece by piece. A fault before the first piece is answered. A later one is logged, because the status has
 * been sent already. It is a fault when the key of the caller ends meanwhile, or its project is disabled; so a reply that
 * comes to its end has missed nothing of a project that is being deleted.
 */
export async function sendStream(
  incoming: Incoming,
  { load, logger, authenticator }: { load: Load; logger: Logger; authenticator: Authenticator },
  stream: StreamedReply,
): Promise<void> {
  const { definition, caller, req, res } = incoming;
  let checkedAt = performance.now();
  async function next() {
    const piece = await stream.pieces.next();
    if (piece.done || performance.now() - checkedAt >= KEY_CHECK_MS) {
      await authenticator.assertStillValid(caller);
      checkedAt = performance.now();
    }
    return piece;
  }
  try {
    assertEndIsSeen(req, stream);
    if (stream.isExport) releaseAfter(res, await load.exports.take(caller.project.id));
    releaseAfter(res, await load.octets.take(caller.project.id, stream.pieceBytes));
    await sendPieces(res, stream.headers, () => inSomeTurn(incoming, load, next));
  } catch (error) {
    if (!res.headersSent && !res.destroyed) {
      for (const name of Object.keys(stream.headers)) res.removeHeader(name);
      sendError(req, res, error, logger);
      return;
    }
    logger.warn({ err: error, requestId: requestIdOf(res), path: definition.path }, 'a reply was not sent completely');
  }
}
