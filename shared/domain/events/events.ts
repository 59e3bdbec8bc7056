import { uuidV7 } from '../../platform/uuid.ts';
import { tooLarge } from '../../pure/app-error.ts';
import { causeData, emailIdOf, type Feedback, type SubscriptionCause } from '../../pure/events/subscription-reasons.ts';
import { LIMITS } from '../../pure/limits.ts';
import { findCheckViolation } from '../../database/database-errors.ts';
import { json, query, sql, type Em } from '../../database/sql.ts';
import { consentsInsert, type Evidence } from '../consent/records.ts';
import { recordedEvents } from './recorded-events.ts';

/**
 * Rethrows the error of a statement that records events, as VALIDATION_ERROR when the project has too many event names.
 * @param field the field of the request that has the name
 */
export function throwTooManyEventNames(error: unknown, field: string): never {
  if (!findCheckViolation(error, 'event_names_limit')) throw error;
  throw tooLarge(field, `A project may have at most ${LIMITS.eventNamesPerProject} event names`);
}

export interface NewEvent {
  projectId: string;
  name: string;
  contactId: string | null;
  emailId?: string | null;
  data?: Record<string, unknown>;
}

/** Records events, in one statement. @returns their ids, in the order given */
export async function recordEvents(em: Em, events: NewEvent[]): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = events.map((event) => ({ ...event, id: uuidV7() }));
  await query(
    em,
    sql`
      with ${recordedEvents(sql`
        select *, now() from unnest(
          ${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.projectId)}::uuid[],
          ${rows.map((row) => row.contactId)}::uuid[], ${rows.map((row) => row.emailId ?? null)}::uuid[],
          ${rows.map((row) => row.name)}::text[], ${rows.map((row) => json(row.data ?? {}))}::jsonb[])`)}
      select`,
  );
  return rows.map((row) => row.id);
}

export interface SubscriptionChange {
  contactId: string;
  cause: SubscriptionCause;
  evidence?: Evidence | undefined;
}

/**
 * Records that subscriptions have changed, and why, with the campaign of the email that led to it: as events, and in the
 * record of consent.
 */
export async function recordSubscriptionEvents(
  em: Em,
  projectId: string,
  changed: readonly SubscriptionChange[],
  subscribed: boolean,
): Promise<void> {
  if (changed.length === 0) return;
  const state = subscribed ? 'subscribed' : 'unsubscribed';
  const emailIds = changed.map(({ cause }) => emailIdOf(cause));
  await query(
    em,
    sql`
      with consents as (${consentsInsert(
        projectId,
        changed.map((change) => ({ ...change, state })),
      )}),
      ${recordedEvents(sql`
        select n.id, ${projectId}::uuid, n.contact_id, n.email_id, ${`contact.${state}`}::text,
          n.data || jsonb_strip_nulls(jsonb_build_object('campaignId', m.campaign_id)), now()
        from unnest(
          ${changed.map(() => uuidV7())}::uuid[], ${changed.map(({ contactId }) => contactId)}::uuid[],
          ${emailIds}::uuid[], ${changed.map(({ cause }) => json(causeData(cause)))}::jsonb[]
        ) as n (id, contact_id, email_id, data) left join email m on m.id = n.email_id`)}
      select`,
  );
}

/**
 * Adds why a contact left to the records and the events of what it left through an email within the last day, where
 * nothing is known yet: a reader is asked after leaving. Automations that have started, and webhooks that were called,
 * know nothing of it.
 */
export async function addFeedback(em: Em, contactId: string, emailId: string, feedback: Feedback): Promise<void> {
  const added = sql`${json({ feedback })}::jsonb`;
  const isOfLeaving = sql`contact_id = ${contactId} and email_id = ${emailId} and created_at > now() - interval '1 day'`;
  await query(
    em,
    sql`
      with consents as (
        update consent_record set details = details || ${added}
        where ${isOfLeaving} and state = 'unsubscribed' and details -> 'feedback' is null
      )
      update event set data = data || ${added}
      where ${isOfLeaving} and name in ('contact.unsubscribed', 'topic.unsubscribed') and data -> 'feedback' is null`,
  );
}
