import { hash } from 'node:crypto';
import { keptAddress } from '../../platform/client-address.ts';
import { causeData, emailIdOf, type SubscriptionCause } from '../../pure/events/subscription-reasons.ts';
import type { ClientAddresses } from '../../pure/project.ts';
import { json, query, sql, storableText, type SqlFragment, type Em } from '../../database/sql.ts';
import type { RowOf, tables } from '../../database/tables.ts';

/** What a contact consents to, or not, from a record on. */
export const CONSENT_STATES = [
  ...(['subscribed', 'unsubscribed', 'pending', 'expired', 'paused', 'resumed'] as const),
  ...(['tracking_allowed', 'tracking_denied'] as const),
] satisfies RowOf<(typeof tables)['consentRecord']>['state'][];
export type ConsentState = (typeof CONSENT_STATES)[number];

/** What proves that somebody consented. */
export interface Evidence {
  /** The address of the client, in the form that the project keeps (`evidenceOf`). */
  clientAddress?: string | null;
  /** The words that were shown (`wordingId`). */
  wordingId?: string | null;
}

export interface ConsentChange {
  contactId: string;
  /** The topic; null or left out for all marketing. */
  topicId?: string | null;
  state: ConsentState;
  cause: SubscriptionCause;
  /** What else there is to know of the change. */
  details?: Readonly<Record<string, unknown>>;
  evidence?: Evidence | undefined;
}

/** The evidence that the address of a client is, as far as the project keeps it. */
export function evidenceOf(address: string | undefined, kept: ClientAddresses): Evidence {
  return { clientAddress: keptAddress(address, kept) };
}

/** The statement of `recordConsents`, for a statement that changes something else, too. */
export function consentsInsert(projectId: string, changes: readonly ConsentChange[]): SqlFragment {
  return sql`
    insert into consent_record (contact_id, id, project_id, topic_id, state, cause, details, email_id, campaign_id,
      client_address, wording_id)
    select n.contact_id, everpost_uuid_v7(), ${projectId}, n.topic_id, n.state, n.data ->> 'reason',
      n.data - '{reason,emailId}'::text[] || jsonb_strip_nulls(jsonb_build_object('topicKey', t.key)), n.email_id,
      m.campaign_id, n.client_address, n.wording_id
    from unnest(
      ${changes.map(({ contactId }) => contactId)}::uuid[], ${changes.map(({ topicId }) => topicId ?? null)}::uuid[],
      ${changes.map(({ state }) => state)}::text[],
      ${changes.map(({ cause, details }) => json({ ...causeData(cause), ...details }))}::jsonb[], ${changes.map(({ cause }) => emailIdOf(cause))}::uuid[],
      ${changes.map(({ evidence }) => evidence?.clientAddress ?? null)}::text[],
      ${changes.map(({ evidence }) => evidence?.wordingId ?? null)}::text[]
    ) as n (contact_id, topic_id, state, data, email_id, client_address, wording_id)
    left join email m on m.id = n.email_id and m.project_id = ${projectId} left join topic t on t.id = n.topic_id`;
}

/**
 * The statement that records the consent of contacts that have just been created as subscribed.
 * @param created a select of the ids of contacts and their causes (`causeData`)
 */
export function createdConsentsInsert(projectId: string, created: SqlFragment): SqlFragment {
  return sql`
    insert into consent_record (contact_id, id, project_id, state, cause, details)
    select n.id, everpost_uuid_v7(), ${projectId}, 'subscribed', n.cause ->> 'reason', n.cause - 'reason'
    from (${created}) as n (id, cause)`;
}

/**
 * The statement that records the consent of the contacts that an import has created as subscribed, by one row for all
 * of them: a row for each would take the import a sixth more time.
 * @param batch the first and the last of the ids that they may have; nobody else has an id between them
 * @param created a select of the ids and subscriptions of all contacts that it created
 */
export function importedConsentsInsert(
  batch: { projectId: string; jobId: string; first: string; last: string },
  created: SqlFragment,
): SqlFragment {
  return sql`
    insert into imported_consent (id, project_id, job_id, first_contact_id, last_contact_id, except_ids)
    select everpost_uuid_v7(), ${batch.projectId}, ${batch.jobId}, ${batch.first}, ${batch.last},
      coalesce(array_agg(n.id) filter (where not n.subscribed), '{}')
    from (${created}) as n (id, subscribed) having count(*) > 0`;
}

/**
 * Records changes of what contacts consent to, in one statement and in the caller's transaction, which must have made
 * the changes. Nothing but `addFeedback` changes a record later.
 */
export async function recordConsents(em: Em, projectId: string, changes: readonly ConsentChange[]): Promise<void> {
  if (changes.length > 0) await query(em, consentsInsert(projectId, changes));
}

/**
 * Stores the words that somebody consents to, once however often they are shown.
 * @param content all of the text as it was shown
 * @returns the id for `Evidence`: the SHA-256 of the words, hex
 */
export async function wordingId(em: Em, content: string): Promise<string> {
  const id = hash('sha256', content);
  // Words that nobody refers to are removed after a day; those that are used again count as new.
  await query(
    em,
    sql`
      insert into wording (id, content) values (${id}, ${storableText(content)})
      on conflict (id) do update set created_at = now() where wording.created_at < now() - interval '1 hour'`,
  );
  return id;
}
