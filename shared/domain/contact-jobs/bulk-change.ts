import { lockContacts } from '../contacts/contact-locks.ts';
import { setSubscribed } from '../contacts/contacts.ts';
import { deleteContacts } from '../lifecycle/delete-contacts.ts';
import { changeTopics } from '../topics/topic-choices.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import type { BulkKind, ChunkOutcome } from '../jobs/jobs.ts';

/**
 * Subscribes, unsubscribes or deletes contacts, in the caller's transaction. With a topic they join or leave it. Events
 * are recorded only for contacts that change. An unknown id counts as a failure; an id that occurs twice counts as
 * unchanged the second time.
 */
export async function changeContacts(
  em: Em,
  { id: jobId, projectId, kind, topicId }: { id: string; projectId: string; kind: BulkKind; topicId?: string },
  ids: string[],
): Promise<ChunkOutcome> {
  const unique = [...new Set(ids)];
  // A deletion locks the rows that refer to the contacts before the contacts.
  const knownIds =
    kind === 'DELETE' ? await existingIds(em, projectId, unique) : await lockContacts(em, projectId, unique, 'change');
  const change = async (): Promise<unknown[]> => {
    if (kind === 'DELETE') return deleteContacts(em, projectId, knownIds);
    const [subscribed, cause] = [kind === 'SUBSCRIBE', { reason: 'bulk', jobId }] as const;
    if (topicId === undefined) return setSubscribed(em, projectId, knownIds, subscribed, cause);
    const changes = knownIds.map((contactId) => ({ contactId, topicId, subscribed }));
    return changeTopics(em, projectId, changes, cause);
  };
  const changed = await change();
  const knownSet = new Set(knownIds);
  const unknown = unique.filter((id) => !knownSet.has(id));
  return {
    done: ids.length,
    counts: {
      successCount: changed.length,
      unchangedCount: ids.length - unknown.length - changed.length,
      failureCount: unknown.length,
    },
    errors: unknown.map((contactId) => ({ contactId, error: 'Contact not found' })),
  };
}

async function existingIds(em: Em, projectId: string, ids: string[]): Promise<string[]> {
  const rows = await query(
    em,
    sql`select id from contact where project_id = ${projectId} and id = any(${ids}::uuid[])`,
    { id: tables.contact.id },
  );
  return rows.map((row) => row.id);
}
