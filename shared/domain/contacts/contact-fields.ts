import { inferFieldType } from '../../pure/contacts/custom-data.ts';
import { throwTooManyFields } from './contact-data-limit.ts';
import { query, sql, type SqlFragment, type Em } from '../../database/sql.ts';

/**
 * The statement that adds new keys of a project with their types; known keys keep their type. Keys are inserted in
 * order, so two writers cannot deadlock. Undefined when there are no keys.
 */
export function fieldTypesInsert(projectId: string, stored: Record<string, unknown>): SqlFragment | undefined {
  const keys = Object.keys(stored).sort();
  if (keys.length === 0) return undefined;
  return sql`
    insert into contact_field (project_id, key, type)
    select ${projectId}, k, t from unnest(${keys}::text[], ${keys.map((key) => inferFieldType(stored[key]))}::text[]) as f (k, t)
    on conflict do nothing`;
}

/** Adds new keys with their types. @throws AppError VALIDATION_ERROR when the project would have too many fields */
export async function noteFieldTypes(em: Em, projectId: string, stored: Record<string, unknown>): Promise<void> {
  const statement = fieldTypesInsert(projectId, stored);
  if (statement) await query(em, statement, {}).catch(throwTooManyFields);
}
