import type { Brand } from '../../pure/brand.ts';
import { lockContacts } from '../contacts/contact-locks.ts';
import { setSubscribed } from '../contacts/contacts.ts';
import type { Em } from '../../database/em.ts';
import { query, queryOne, sql } from '../../database/sql.ts';
import { boolean, jsonAs, number, text, type RowOf } from '../../database/tables.ts';
import { inTransaction } from '../../database/transaction.ts';
import { BRAND } from '../projects/brand.ts';

/** The contact and the email that a link belongs to. */
export interface LinkOwner {
  contactId: string;
  emailId: string;
}

const LINK_CONTACT = {
  id: text,
  projectId: text,
  email: text,
  subscribed: boolean,
  data: jsonAs<Record<string, unknown>>(),
  /** The brand of the project. */
  brand: jsonAs<Brand>(),
};
export type LinkContact = RowOf<typeof LINK_CONTACT>;

/**
 * The contact that a link belongs to. If it was deleted and created again under another id, its successor is found, so
 * that unsubscribing still works. A link in an email without a contact leads to the contact who has the address now.
 */
export async function findLinkContact(em: Em, { contactId, emailId }: LinkOwner): Promise<LinkContact | undefined> {
  return queryOne(
    em,
    sql`
      with found as (
        select id, project_id, email, subscribed, data from contact where id = ${contactId}
        union all
        select c.id, c.project_id, c.email, c.subscribed, c.data
        from (
          select successor_id as id from erased_contact where contact_id = ${contactId}
          union all
          select x.successor_id from email e join erased_contact x on x.contact_id = e.erased_contact_id
          where e.id = ${emailId}
          union all
          select c.id from email e join contact c on c.project_id = e.project_id and c.email = e.to_address
          where e.id = ${emailId}
        ) successor join contact c on c.id = successor.id
        where not exists (select from contact where id = ${contactId})
        limit 1
      )
      select c.id, c.project_id as "projectId", c.email, c.subscribed, c.data, ${BRAND} as brand
      from found c join project p on p.id = c.project_id`,
    LINK_CONTACT,
  );
}

/**
 * Subscribes or unsubscribes the contact that a link belongs to; a repeated call changes nothing. The campaign of the
 * email counts an unsubscription through the link, once for each email.
 * @param reason how the recipient used the link
 * @returns the contact as it is now; undefined when it no longer exists; 'too often' when it cannot subscribe again
 *   for now. Unsubscribing is always possible.
 */
export async function changeSubscription(
  em: Em,
  owner: LinkOwner,
  subscribed: boolean,
  reason: 'link' | 'one_click' | 'email' = 'link',
): Promise<LinkContact | 'too often' | undefined> {
  return inTransaction(em, async (tx) => {
    const contact = await findLinkContact(tx, owner);
    if (!contact) return undefined;
    if (subscribed && !contact.subscribed && (await hasSubscribedTooOften(tx, contact.id))) return 'too often';
    // Contact, email, campaign: see the order of locks at `inTransaction`.
    await lockContacts(tx, contact.projectId, [contact.id], 'change');
    if (contact.subscribed && !subscribed) await countUnsubscription(tx, owner.emailId);
    await setSubscribed(tx, contact.projectId, [contact.id], subscribed, { reason, emailId: owner.emailId });
    return { ...contact, subscribed };
  });
}

/**
 * As `changeSubscription`, for an unsubscription by email. An email without a contact passes its own id as that of the
 * contact, so `findLinkContact` finds the contact who has the address now.
 */
export async function unsubscribeByEmail(em: Em, emailId: string): Promise<void> {
  const email = await queryOne(
    em,
    sql`select coalesce(contact_id, erased_contact_id, id) as "contactId" from email where id = ${emailId}`,
    { contactId: text },
  );
  if (email) await changeSubscription(em, { contactId: email.contactId, emailId }, false, 'email');
}

/** How often a contact can subscribe through links in 24 hours. Each subscription, and each end of one, is an event. */
const SUBSCRIPTIONS_PER_DAY_MAX = 20;

async function hasSubscribedTooOften(em: Em, contactId: string): Promise<boolean> {
  // Simultaneous requests wait for each other here.
  await query(em, sql`select from contact where id = ${contactId} for no key update`);
  const row = await queryOne(
    em,
    sql`
      select count(*) from (
        select from event where contact_id = ${contactId} and name = 'contact.subscribed'
          and created_at > now() - interval '1 day' and data ->> 'reason' = 'link' limit ${SUBSCRIPTIONS_PER_DAY_MAX}
      ) recent`,
    { count: number },
  );
  return (row?.count ?? 0) >= SUBSCRIPTIONS_PER_DAY_MAX;
}

async function countUnsubscription(em: Em, emailId: string): Promise<void> {
  await query(
    em,
    sql`
      with marked as (
        update email set unsubscribed_at = now() where id = ${emailId} and unsubscribed_at is null returning campaign_id
      )
      update campaign c set unsubscribed_count = c.unsubscribed_count + 1 from marked m where c.id = m.campaign_id`,
  );
}
