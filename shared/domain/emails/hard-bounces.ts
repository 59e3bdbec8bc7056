import { endBouncedSubscriptions } from '../contacts/contacts.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { suppressRecipients } from '../suppressions/suppressions.ts';

/** An email that bounced hard, and the contact that it was for. */
export interface BouncedEmail {
  emailId: string;
  contactId: string | null;
}

/**
 * Ends the subscriptions of the contacts and suppresses the addresses. Each email stores what its contact lost, because
 * only that can be restored when the verdict turns out to be wrong.
 */
export async function applyHardBounces(em: Em, projectId: string, bounced: readonly BouncedEmail[]): Promise<void> {
  if (bounced.length === 0) return;
  const ofContacts = bounced.flatMap(({ emailId, contactId }) => (contactId === null ? [] : [{ emailId, contactId }]));
  const unsubscribed = new Set(await endBouncedSubscriptions(em, projectId, ofContacts));
  const emailIds = bounced.map((email) => email.emailId);
  const suppressed = new Set(await suppressRecipients(em, emailIds, 'HARD_BOUNCE'));
  await query(
    em,
    sql`
      update email e
      set refusal = coalesce(e.refusal, '{}')
        || jsonb_build_object('unsubscribed', t.unsubscribed, 'suppressed', t.suppressed)
      from unnest(
        ${emailIds}::uuid[],
        ${bounced.map(({ contactId }) => contactId !== null && unsubscribed.has(contactId))}::boolean[],
        ${emailIds.map((id) => suppressed.has(id))}::boolean[]
      ) as t (id, unsubscribed, suppressed)
      where e.id = t.id`,
  );
}
