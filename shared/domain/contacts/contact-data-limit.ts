import { tooLarge } from '../../pure/app-error.ts';
import type { DataPatch } from '../../pure/contacts/custom-data.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import { findCheckViolation } from '../database/database-errors.ts';
import { json, sql, type SqlFragment } from '../database/sql.ts';

export const DATA_TOO_LARGE = `A contact may hold ${LIMITS.contactDataKeys} keys and ${LIMITS.contactDataBytes} bytes of custom data`;

/**
 * What a patch stores, as JSON. What is too large by itself need not be merged first; everything else is measured after
 * the merge, by a trigger on the table (`contact_data_limit`), so no concurrent merge can pass the limit.
 * @throws AppError VALIDATION_ERROR
 */
export function storedJson({ stored }: DataPatch): string {
  const text = json(stored);
  if (utf8Bytes(text) > LIMITS.contactDataBytes || Object.keys(stored).length > LIMITS.contactDataKeys) {
    throw tooLarge('data', DATA_TOO_LARGE);
  }
  return text;
}

/** Throws on what a statement that writes contacts has thrown, as a 422 where the trigger refused a contact's data. */
export function throwDataTooLarge(error: unknown): never {
  const violation = findCheckViolation(error, 'contact_data_limit');
  throw violation ? tooLarge('data', DATA_TOO_LARGE, { contactId: violation.detail }) : error;
}

/** The same test for a statement that leaves single contacts out; small data is let through by its binary size. */
export function dataFits(data: SqlFragment, before: SqlFragment): SqlFragment {
  return sql`(pg_column_size(${data}) <= 4000 or everpost_contact_data_fits(${data}, ${before}))`;
}
