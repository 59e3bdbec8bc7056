import { isDatabaseFault, isRefusedValue } from '../../database/database-errors.ts';
import { Gather } from '../../platform/gather.ts';
import type { DeliveryResult } from '../ports.ts';

const UNSTORABLE = 'The answer of the server cannot be stored.';

/** A result without what others wrote: its outcome must be recorded in any case, or the email would be sent again. */
function withoutTexts({ emailId, verdict, error, refusal, server, held }: DeliveryResult): DeliveryResult {
  return {
    emailId,
    verdict,
    subject: null,
    error: error === null ? null : UNSTORABLE,
    ...(refusal && { refusal: { kind: refusal.kind, rule: refusal.rule } }),
    ...(server !== undefined && { server: '' }),
    ...(held && { held }),
  };
}

function hasTexts({ subject, error, server, refusal }: DeliveryResult): boolean {
  return subject !== null || (error !== null && error !== UNSTORABLE) || Boolean(server) || Boolean(refusal?.server);
}

/**
 * Records results together. A single one that PostgreSQL refuses is recorded without its texts.
 * @throws the error of `record`
 */
export async function recordTogether(
  results: DeliveryResult[],
  record: (results: DeliveryResult[]) => Promise<unknown>,
): Promise<undefined[]> {
  try {
    await record(results);
  } catch (error) {
    const [first] = results;
    if (!isRefusedValue(error) || results.length > 1 || !first || !hasTexts(first)) throw error;
    await record([withoutTexts(first)]);
  }
  return results.map(() => undefined);
}

/**
 * Records results; if PostgreSQL refuses them together, one by one.
 * @throws after the others are recorded, the first error of a result; rather a fault of the database
 */
export async function recordApart(
  results: DeliveryResult[],
  record: (results: DeliveryResult[]) => Promise<unknown>,
): Promise<void> {
  const gather = new Gather<DeliveryResult>({
    write: (group) => recordTogether(group, record),
    itemsMax: results.length,
    afterFault: (error, group) => (isRefusedValue(error) && group.length > 1 ? 'split' : 'fail'),
  });
  const ends = await Promise.allSettled(results.map((result) => gather.add(result)));
  const errors = ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []));
  if (errors.length > 0) throw errors.find(isDatabaseFault) ?? errors[0];
}
