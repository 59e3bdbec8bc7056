import { tooLarge } from '../../pure/app-error.ts';
import type { DataPatch } from '../../pure/contacts/custom-data.ts';
import { utf8Bytes } from '../../pure/json-bytes.ts';
import { LIMITS } from '../../pure/limits.ts';
import { findCheckViolation } from '../../database/database-errors.ts';
import { json, sql, type SqlFragment } from '../../database/sql.ts';

export const TOO_MANY_FIELDS = `A project may have at most ${LIMITS.contactFieldsPerProject} fields of custom data`;
export const DATA_TOO_LARGE = `A contact may have at most ${LIMITS.contactDataKeys} keys and ${LIMITS.contactDataBytes} bytes of custom data`;

/**
 * The JSON that a patch stores. A patch that is too large by itself is refused here. The merged data is measured by a
 * trigger on the table (`contact_data_limit`), so concurrent patches cannot exceed the limit together.
 * @throws AppError VALIDATION_ERROR
 */
export function storedJson({ stored }: DataPatch): string {
  const text = json(stored);
  if (utf8Bytes(text) > LIMITS.contactDataBytes || Object.keys(stored).length > LIMITS.contactDataKeys) {
    throw tooLarge('data', DATA_TOO_LARGE);
  }
  return text;
}

/** Rethrows the error of a statement that adds fields, as a 422 if the project would have too many. */
export function throwTooManyFields(error: unknown): never {
  throw findCheckViolation(error, 'contact_fields_limit') ? tooLarge('data', TOO_MANY_FIELDS) : error;
}

/** Rethrows the error of a statement that writes contacts, as a 422 if it is about too much data or too many fields. */
export function throwDataTooLarge(error: unknown): never {
  const violation = findCheckViolation(error, 'contact_data_limit');
  if (violation) throw tooLarge('data', DATA_TOO_LARGE, { contactId: violation.detail });
  throwTooManyFields(error);
}

/**
 * The condition of the trigger, for a statement that skips contacts with too much data. Small data is not measured,
 * because its binary size shows that it fits.
 */
export function dataFits(data: SqlFragment): SqlFragment {
  return sql`(pg_column_size(${data}) <= 4000 or everpost_contact_data_fits(${data}))`;
}
