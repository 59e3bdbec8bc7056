import type { Load } from './load.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { requestIdOf } from './error-envelope.ts';
import { sendCsv, type CsvReply } from './csv-reply.ts';
import type { Endpoint, Reply } from './endpoint.ts';
import { lengthOf, sendJson } from './json-reply.ts';
import { releaseAfter, takeTurn, type Incoming } from './request-resources.ts';

/** Answers above this size are counted until they have been read. */
const LARGE_ANSWER_BYTES = 256 * 1024;

/** The body of a reply on the wire; undefined when it has none. */
export function envelopeOf(definition: Endpoint, { data, message }: Reply): unknown {
  if (data === undefined || !definition.envelope) return data;
  return { success: true, data, ...(message !== undefined && { message }) };
}

export function sendReply({ res, caller }: Incoming, load: Load, status: number, parts: Buffer[]): void {
  const length = lengthOf(parts);
  if (length > LARGE_ANSWER_BYTES) releaseAfter(res, load.octets.add(caller.project.id, length));
  res.status(status);
  if (length > 0) sendJson(res, parts);
  else res.end();
}

export async function sendTable(
  { definition, caller, res }: Incoming,
  deps: { load: Load; logger: Logger },
  csv: CsvReply,
): Promise<void> {
  try {
    await sendCsv(res, csv, () => takeTurn(definition, caller.project.id, deps.load));
  } catch (error) {
    deps.logger.warn({ err: error, requestId: requestIdOf(res), path: definition.path }, 'a table was not sent whole');
  }
}
