import { z } from 'zod';
import { badRequest } from '../../shared/pure/app-error.ts';

/**
 * The query parameter `status` of a list. The document names its values; the handler reads it with `readStatus`, because
 * an unknown status is a 400.
 */
export function statusQuery(statuses: readonly string[]) {
  return z.optional(z.string()).meta({ description: `One of ${statuses.join(', ')}`, enum: [...statuses] });
}

/**
 * The status that a query names; undefined when it names none.
 * @param what completes "is not", such as "a campaign status"
 * @throws AppError BAD_REQUEST for an unknown status
 */
export function readStatus<Status extends string>(
  text: string | undefined,
  statuses: readonly Status[],
  what: string,
): Status | undefined {
  if (text === undefined || text === '') return undefined;
  const status = statuses.find((candidate) => candidate === text);
  if (status) return status;
  throw badRequest(`"${text.slice(0, 50)}" is not ${what}`, { details: { field: 'status', allowed: statuses } });
}
