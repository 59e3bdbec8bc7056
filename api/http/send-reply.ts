import type { Load } from './load.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { requestIdOf } from './error-envelope.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import { ignoredFieldWarning } from './ignored-fields.ts';
import { lengthOf, sendJson } from './json-reply.ts';
import { inTurn, releaseAfter, type Incoming } from './request-resources.ts';
import { sendPieces, type StreamedReply } from './streamed-reply.ts';

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

/** Sends a reply piece by piece. A fault on the way is logged, because the status has been sent already. */
export async function sendStream(
  { definition, caller, res }: Incoming,
  { load, logger }: { load: Load; logger: Logger },
  stream: StreamedReply,
): Promise<void> {
  try {
    releaseAfter(res, await load.octets.take(caller.project.id, stream.pieceBytes));
    await sendPieces(res, stream, (work) => inTurn(definition, caller.project.id, load, work));
  } catch (error) {
    logger.warn({ err: error, requestId: requestIdOf(res), path: definition.path }, 'a reply was not sent completely');
  }
}
