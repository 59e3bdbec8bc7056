import { campaignStatus, emailStatus } from '../../database/constants.ts';
import { query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { pick, tables } from '../../database/tables.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';

/** Emails of one statement: others wait until its writes are on the disk. */
const CHUNK = 1_000;
/** Workers know by then what is so now. They ask the store every second. */
const KNOWN_SECONDS = 2;

/**
 * Lets the emails of campaigns ask again that wait for a reason which a command may have ended. Other emails do so by
 * themselves.
 */
export async function wakeCampaignMail(em: Em, reason: 'warm-up' | 'no source'): Promise<void> {
  const sending = await query(
    em,
    sql`
      select id, project_id as "projectId", total_recipients as total from campaign
      where status = ${campaignStatus.SENDING} and audience_as_of is not null`,
    { ...pick(tables.campaign, 'id', 'projectId'), total: tables.campaign.totalRecipients },
  );
  const soon = sql`now() + ${KNOWN_SECONDS}::int * interval '1 second'`;
  for (const { id, projectId, total } of sending) {
    let woken = 0;
    for (let after = 0; after < total; after += CHUNK) {
      const changed = await query(
        em,
        sql`
          update email set retry_at = ${soon}
          where campaign_id = ${id} and campaign_seq > ${after} and campaign_seq <= ${after + CHUNK}::int
            and status = ${emailStatus.PENDING} and wait_reason = ${reason} and retry_at > ${soon}
          returning id`,
        pick(tables.email, 'id'),
      );
      woken += changed.length;
    }
    if (woken > 0) await inTransaction(em, (tx) => addToOutbox(tx, 'campaign', projectId, [id]));
  }
}
