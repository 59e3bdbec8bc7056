import { optInState } from '../../database/constants.ts';
import { query, queryCount, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { pick, tables } from '../../database/tables.ts';
import { deleteContacts } from './delete-contacts.ts';

/** How long a person who did not confirm in time can have another confirmation sent. Then the contact is deleted. */
const UNCONFIRMED_DAYS = 30;
/** How long the link of a confirmation shows what has become of it. */
const OPT_IN_DAYS = 90;

/**
 * Deletes contacts that exist only because a form named their address, and who never confirmed: there is no reason to
 * keep the address. A contact that has done or got anything else stays.
 * @returns how many, up to `limit`
 */
async function sweepUnconfirmedContacts(em: Em, limit: number): Promise<number> {
  const rows = await query(
    em,
    sql`
      select o.project_id as "projectId", o.contact_id as "contactId"
      from opt_in o join contact c on c.id = o.contact_id
      where o.state = ${optInState.expired} and o.is_first
        and o.expires_at < now() - ${UNCONFIRMED_DAYS}::int * interval '1 day'
        and c.is_pending and not c.subscribed and c.data = '{}'
        and not exists (select from opt_in n where n.contact_id = c.id and n.expires_at > o.expires_at)
        and not exists (select from event v where v.contact_id = c.id and v.name not like 'email.%')
        and (select count(*) from email e where e.contact_id = c.id)
          <= (select sum(mails) from opt_in n where n.contact_id = c.id)
      limit ${limit}`,
    pick(tables.optIn, 'projectId', 'contactId'),
  );
  const byProject = Map.groupBy(rows, ({ projectId }) => projectId);
  for (const [projectId, contacts] of byProject) {
    await deleteContacts(
      em,
      projectId,
      contacts.map(({ contactId }) => contactId),
    );
  }
  return rows.length;
}

async function deleteOld(em: Em, table: SqlFragment, condition: SqlFragment, limit: number): Promise<number> {
  return queryCount(
    em,
    sql`
      with gone as (
        delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit ${limit})) returning 1
      )
      select count(*) from gone`,
  );
}

/**
 * Deletes contacts who never confirmed, opt-ins that ended long ago, and counts of confirmations that no longer bound
 * the next one. The record of consent keeps what was consented to.
 * @param limit of each
 * @returns how many
 */
export async function sweepOptIns(em: Em, limit: number): Promise<number> {
  const contacts = await sweepUnconfirmedContacts(em, limit);
  const over = sql`state <> ${optInState.pending} and expires_at < now() - ${OPT_IN_DAYS}::int * interval '1 day'`;
  const optIns = await deleteOld(em, sql`opt_in`, over, limit);
  const mails = await deleteOld(em, sql`confirmation_mail`, sql`queued_at < now() - interval '1 day'`, limit);
  return contacts + optIns + mails;
}
