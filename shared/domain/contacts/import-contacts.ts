import { v7 as uuidV7 } from 'uuid';
import type { Em } from '../orm.ts';
import { query, sql } from '../sql.ts';
import { setSubscribed } from './contacts.ts';
import type { ImportedContact } from './import-file.ts';

export interface ImportedCounts {
  createdCount: number;
  updatedCount: number;
}

interface UpsertedRow {
  id: string;
  email: string;
  subscribed: boolean;
  isNew: boolean;
}

/** Rows for the same address become one: of each field the later row's value, and its subscription when it has one. */
function mergeByAddress(rows: ImportedContact[]): ImportedContact[] {
  const byEmail = new Map<string, ImportedContact>();
  for (const row of rows) {
    const earlier = byEmail.get(row.email);
    byEmail.set(row.email, earlier ? merge(earlier, row) : row);
  }
  // Sorted as in every statement that writes contacts by address, so imports that overlap wait for each other in turn.
  return [...byEmail.values()].sort((left, right) => (left.email < right.email ? -1 : 1));
}

function merge(earlier: ImportedContact, later: ImportedContact): ImportedContact {
  const { email } = later;
  const subscribed = later.subscribed ?? earlier.subscribed;
  if (earlier.data === '{}') return { email, subscribed, data: later.data };
  if (later.data === '{}') return { email, subscribed, data: earlier.data };
  // Of a key that stands twice in a text, jsonb keeps the last value.
  return { email, subscribed, data: `${earlier.data.slice(0, -1)},${later.data.slice(1)}` };
}

/**
 * Creates or updates one contact per row, in the caller's transaction. New contacts are subscribed unless the row says
 * otherwise; a change of an existing contact's subscription emits its event.
 * @returns how many rows created and how many updated a contact; a second row for an address updates
 */
export async function importContacts(em: Em, projectId: string, rows: ImportedContact[]): Promise<ImportedCounts> {
  const merged = mergeByAddress(rows);
  const upserted = await query<UpsertedRow>(
    em,
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select i, ${projectId}, e, coalesce(s, true), d, now(), now()
      from unnest(${merged.map(() => uuidV7())}::uuid[], ${merged.map((row) => row.email)}::text[],
        ${merged.map((row) => row.subscribed ?? null)}::boolean[], ${merged.map((row) => row.data)}::jsonb[]) as n (i, e, s, d)
      on conflict (project_id, email) do update set data = contact.data || excluded.data, updated_at = now()
      returning id, email, subscribed, (xmax = 0) as "isNew"`,
  );
  await flipSubscriptions(em, projectId, merged, upserted);
  const createdCount = upserted.filter((row) => row.isNew).length;
  return { createdCount, updatedCount: rows.length - createdCount };
}

async function flipSubscriptions(
  em: Em,
  projectId: string,
  rows: ImportedContact[],
  upserted: UpsertedRow[],
): Promise<void> {
  const wanted = new Map(rows.map((row) => [row.email, row.subscribed]));
  for (const subscribed of [true, false]) {
    const ids = upserted
      .filter((row) => !row.isNew && row.subscribed !== subscribed && wanted.get(row.email) === subscribed)
      .map((row) => row.id);
    if (ids.length > 0) await setSubscribed(em, projectId, ids, subscribed);
  }
}
