import { tooLarge } from '../../pure/app-error.ts';
import type { DataPatch } from '../../pure/contacts/custom-data.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import { findCheckViolation } from '../database/database-errors.ts';
import { json, sql, type SqlFragment } from '../database/sql.ts';

const TOO_MANY_FIELDS = `A project may have ${LIMITS.contactFieldsPerProject} fields of custom data`;
export const DATA_TOO_LARGE = `A contact may hold ${LIMITS.contactDataKeys} keys and ${LIMITS.contactDataBytes} bytes of custom data`;

/**
 * The JSON that a patch stores. A patch that is too large by itself is refused before the merge; everything else is
 * measured after it, by a trigger on the table (`contact_data_limit`), so no concurrent merge can pass the limit.
 * @throws AppError VALIDATION_ERROR
 */
export function storedJson({ stored }: DataPatch): string {
  const text = json(stored);
  if (utf8Bytes(text) > LIMITS.contactDataBytes || Object.keys(stored).length > LIMITS.contactDataKeys) {
    throw tooLarge('data', DATA_TOO_LARGE);
  }
  return text;
}

/** Rethrows the error of a statement that notes fields, as a 422 if the project has no room for new ones. */
export function throwTooManyFields(error: unknown): never {
  throw findCheckViolation(error, 'contact_fields_limit') ? tooLarge('data', TOO_MANY_FIELDS) : error;
}

/** The same for a statement that writes contacts, including errors of the trigger that refuses large data. */
export function throwDataTooLarge(error: unknown): never {
  const violation = findCheckViolation(error, 'contact_data_limit');
  if (violation) throw tooLarge('data', DATA_TOO_LARGE, { contactId: violation.detail });
  throwTooManyFields(error);
}

/** The same test for a statement that leaves single contacts out; small data passes by its binary size alone. */
export function dataFits(data: SqlFragment, before: SqlFragment): SqlFragment {
  return sql`(pg_column_size(${data}) <= 4000 or everpost_contact_data_fits(${data}, ${before}))`;
}
