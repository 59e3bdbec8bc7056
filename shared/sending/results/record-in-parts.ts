import { isDatabaseFault, isRefusedValue } from '../../database/database-errors.ts';
import type { DeliveryResult } from '../ports.ts';

const UNSTORABLE = 'The answer of the server cannot be stored.';

/** A result without what others wrote: its outcome must be recorded in any case, or the email would be sent again. */
function withoutTexts({ emailId, verdict, error, refusal, server, held }: DeliveryResult): DeliveryResult {
  return {
    ...{ emailId, verdict, subject: null, error: error === null ? null : UNSTORABLE },
    ...(refusal && { refusal: { kind: refusal.kind, rule: refusal.rule } }),
    ...(server !== undefined && { server: '' }),
    ...(held && { held }),
  };
}

function hasTexts({ subject, error, server, refusal }: DeliveryResult): boolean {
  return subject !== null || (error !== null && error !== UNSTORABLE) || Boolean(server) || Boolean(refusal?.server);
}

/** The parts in which results are tried that PostgreSQL refused together; undefined when nothing is left to try. */
function smallerParts(results: DeliveryResult[]): DeliveryResult[][] | undefined {
  const [first] = results;
  if (!first) return undefined;
  if (results.length === 1) return hasTexts(first) ? [[withoutTexts(first)]] : undefined;
  const middle = Math.ceil(results.length / 2);
  return [results.slice(0, middle), results.slice(middle)];
}

/**
 * Records results. If PostgreSQL refuses a value, the results are recorded in halves, so that only the one with that
 * value is affected; it is recorded without its texts.
 * @throws the first error of a result that cannot be recorded at all, after the others are recorded; at once a fault of
 *   the database
 */
export async function recordInParts(
  results: DeliveryResult[],
  record: (part: DeliveryResult[]) => Promise<unknown>,
): Promise<void> {
  try {
    await record(results);
  } catch (error) {
    const parts = isRefusedValue(error) ? smallerParts(results) : undefined;
    if (!parts) throw error;
    const failures: unknown[] = [];
    for (const part of parts) {
      await recordInParts(part, record).catch((cause: unknown) => {
        if (isDatabaseFault(cause)) throw cause;
        failures.push(cause);
      });
    }
    if (failures.length > 0) throw failures[0];
  }
}
