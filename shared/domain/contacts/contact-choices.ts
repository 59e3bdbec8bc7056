import { causeData, emailIdOf } from '../../pure/events/subscription-reasons.ts';
import { recordConsents } from '../consent/records.ts';
import type { SubscriptionChange } from '../events/events.ts';
import { recordedEvents } from '../events/recorded-events.ts';
import { json, query, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';

const CHANGED = { id: tables.contact.id };

/**
 * Pauses all marketing for a contact until a moment, or ends its pause, and records the event `contact.paused` or
 * `contact.resumed` and the consent. A pause that ends by itself records nothing. The caller has opened a transaction.
 * @param until null ends the pause
 * @returns whether that changed anything
 */
export async function setPause(
  em: Em,
  projectId: string,
  contactId: string,
  until: Date | null,
  { cause, evidence }: Omit<SubscriptionChange, 'contactId'>,
): Promise<boolean> {
  const emailId = emailIdOf(cause);
  const details = until ? { pausedUntil: until.toISOString() } : {};
  const changed = await query(
    em,
    sql`
      with changed as (
        update contact set paused_until = ${until}, updated_at = now()
        where project_id = ${projectId} and id = ${contactId} and paused_until is distinct from ${until}::timestamptz
          and (${until}::timestamptz is not null or paused_until > now())
        returning id
      ),
      ${recordedEvents(sql`
        select everpost_uuid_v7(), ${projectId}::uuid, id, ${emailId}::uuid,
          ${until ? 'contact.paused' : 'contact.resumed'}::text,
          ${json({ ...causeData(cause), ...details })}::jsonb || jsonb_strip_nulls(jsonb_build_object('campaignId',
            (select campaign_id from email where id = ${emailId}::uuid))), now()
        from changed`)}
      select id from changed`,
    CHANGED,
  );
  const state = until ? 'paused' : 'resumed';
  await recordConsents(
    em,
    projectId,
    changed.map(({ id }) => ({ contactId: id, state, cause, details, evidence })),
  );
  return changed.length > 0;
}

/**
 * Stores whether contacts agree to tracking, which projects of the mode CONSENTED ask for, and records the consent. The
 * caller has opened a transaction, and has locked them if they are several.
 * @returns the ids of those who said something else before
 */
export async function setTrackingAllowed(
  em: Em,
  projectId: string,
  contactIds: string[],
  isAllowed: boolean,
  { cause, evidence }: Omit<SubscriptionChange, 'contactId'>,
): Promise<string[]> {
  if (contactIds.length === 0) return [];
  const changed = await query(
    em,
    sql`
      update contact set tracking_allowed = ${isAllowed}, updated_at = now()
      where project_id = ${projectId} and id = any(${contactIds}::uuid[])
        and tracking_allowed is distinct from ${isAllowed}
      returning id`,
    CHANGED,
  );
  const state = isAllowed ? 'tracking_allowed' : 'tracking_denied';
  await recordConsents(
    em,
    projectId,
    changed.map(({ id }) => ({ contactId: id, state, cause, evidence })),
  );
  return changed.map(({ id }) => id);
}
