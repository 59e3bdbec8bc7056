import { validationError, type AppError } from '../../pure/app-error.ts';
import type { SubscriptionCause } from '../../pure/events/subscription-reasons.ts';
import type { TopicChoices } from '../../pure/topics.ts';
import { DATA_TOO_LARGE, TOO_MANY_FIELDS } from '../contacts/contact-data-limit.ts';
import { noteFieldTypes } from '../contacts/contact-fields.ts';
import { readDataPatch } from '../../pure/contacts/custom-data.ts';
import { json, query, sql, type Em } from '../../database/sql.ts';
import { pick, tables } from '../../database/tables.ts';
import { LIMITS } from '../../pure/limits.ts';
import { unknownTopic } from '../topics/topic-choices.ts';
import { allTopics } from '../topics/topics.ts';
import { createContactBatch } from './contact-batch.ts';
import { importContacts } from './import-contacts.ts';
import type { ImportedContact } from './imported-rows.ts';

/** A contact as `POST /contacts` takes it. */
export interface WrittenContact {
  /** A normalised address. */
  email: string;
  subscribed?: boolean | undefined;
  topics?: TopicChoices | undefined;
  trackingAllowed?: boolean | undefined;
  data?: Record<string, unknown> | undefined;
}

/** What became of a row: the contact, or why it was not written. */
export type WrittenOutcome = { id: string; outcome: 'created' | 'updated' | 'unchanged' } | AppError;

/** The row of an import that a contact is. @param row its number */
export function importedRow({ data, ...contact }: WrittenContact, row: number): ImportedContact {
  const { stored, removed } = readDataPatch(data);
  return { row, subscribed: undefined, ...contact, data: json(stored), removed };
}

const dataError = (message: string): AppError => validationError([{ field: 'data', message, code: 'too_big' }]);

/** Keeps the keys of new data with their types. @returns the errors of rows whose keys would be too many */
async function noteFields(em: Em, projectId: string, rows: readonly ImportedContact[]): Promise<Map<number, AppError>> {
  const values = rows.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
  const known = await query(em, sql`select key from contact_field where project_id = ${projectId}`, {
    key: tables.contactField.key,
  });
  const keys = new Set(known.map(({ key }) => key));
  const noted = Object.create(null) as Record<string, unknown>;
  const refused = new Map<number, AppError>();
  for (const [index, { row }] of rows.entries()) {
    const added = Object.entries(values[index] ?? {}).filter(([key]) => !keys.has(key));
    if (added.length > 0 && keys.size + added.length > LIMITS.contactFieldsPerProject) {
      refused.set(row, dataError(TOO_MANY_FIELDS));
      continue;
    }
    for (const [key, value] of added) {
      keys.add(key);
      noted[key] = value;
    }
  }
  await noteFieldTypes(em, projectId, noted);
  return refused;
}

/**
 * Creates or updates contacts in the caller's transaction, with a few statements for all. A row that cannot be stored
 * takes nothing from others. Rows with one address count together, a later one first; each field has its last value.
 * @param rows an error stays one
 * @returns what became of each, in their order
 */
export async function writeContacts(
  em: Em,
  projectId: string,
  rows: readonly (WrittenContact | AppError)[],
  cause: SubscriptionCause,
): Promise<WrittenOutcome[]> {
  const read = rows.flatMap((row, index) => ('email' in row ? [importedRow(row, index)] : []));
  const topicIds = new Map((await allTopics(em, projectId)).map(({ key, id }) => [key, id]));
  const errors = new Map<number, AppError>();
  for (const { row, topics = {} } of read) {
    const faults = Object.keys(topics).filter((key) => !topicIds.has(key));
    if (faults.length > 0) errors.set(row, validationError(faults.map((key) => unknownTopic(`topics.${key}`, key))));
  }
  const valid = (row: ImportedContact): boolean => !errors.has(row.row);
  for (const [row, error] of await noteFields(em, projectId, read.filter(valid))) errors.set(row, error);
  const batch = createContactBatch(read.filter(valid));
  const source = { projectId, cause, startedAt: null, isReported: true };
  const { refused, changed } = await importContacts(em, source, batch, topicIds);
  for (const { row } of refused) errors.set(row, dataError(DATA_TOO_LARGE));
  const stored = await query(
    em,
    sql`select id, email from contact where project_id = ${projectId} and email = any(${read.map(({ email }) => email)}::text[])`,
    pick(tables.contact, 'id', 'email'),
  );
  const ids = new Map(stored.map(({ id, email }) => [email, id]));
  const seen = new Set<string>();
  return rows.map((row, index) => {
    const error = 'email' in row ? errors.get(index) : row;
    const id = 'email' in row ? ids.get(row.email) : undefined;
    if (error || id === undefined) return error ?? validationError([DELETED]);
    if (id >= batch.first && id <= batch.last) {
      const outcome = seen.has(id) ? 'updated' : 'created';
      seen.add(id);
      return { id, outcome };
    }
    return { id, outcome: changed.has(id) ? 'updated' : 'unchanged' };
  });
}

const DELETED = { field: 'email', message: 'The contact was deleted at the same time', code: 'deleted' };
