import { setSubscribed } from '../contacts/contacts.ts';
import type { Em } from '../orm.ts';
import { query, queryOne, sql } from '../sql.ts';
import { inTransaction } from '../transaction.ts';

/** Whom and which mail a link in a mail speaks for. */
export interface LinkOwner {
  contactId: string;
  emailId: string;
}

export interface LinkContact {
  id: string;
  projectId: string;
  email: string;
  subscribed: boolean;
  data: Record<string, unknown>;
}

/**
 * The contact behind a link. Where it has been deleted and come back under another id, the address the mail went to
 * still leads to it: a way out must not get lost.
 */
export async function findLinkContact(em: Em, { contactId, emailId }: LinkOwner): Promise<LinkContact | undefined> {
  return queryOne<LinkContact>(
    em,
    sql`
      select id, project_id as "projectId", email, subscribed, data from contact where id = ${contactId}
      union all
      select c.id, c.project_id, c.email, c.subscribed, c.data
      from email e join contact c on c.project_id = e.project_id and c.email = e.to_address
      where e.id = ${emailId} and not exists (select from contact where id = ${contactId})
      limit 1`,
  );
}

/**
 * Subscribes or unsubscribes the contact behind a link, once however often it is asked for; the campaign of the mail
 * counts an unsubscription that came through it, once a mail.
 * @returns the contact as it is now; undefined when there is none any more
 */
export async function changeSubscription(
  em: Em,
  owner: LinkOwner,
  subscribed: boolean,
): Promise<LinkContact | undefined> {
  return inTransaction(em, async (tx) => {
    const contact = await findLinkContact(tx, owner);
    if (!contact) return undefined;
    // Mail, campaign, contact: the order in which results and bounces lock them too.
    if (contact.subscribed && !subscribed) await countUnsubscription(tx, owner.emailId);
    await setSubscribed(tx, contact.projectId, [contact.id], subscribed);
    return { ...contact, subscribed };
  });
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
