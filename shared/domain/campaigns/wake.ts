import { campaignStatus, emailStatus } from '../../database/constants.ts';
import { query, queryOne, sql, type Em } from '../../database/sql.ts';
import { pick, tables, text } from '../../database/tables.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import { HELD_REASONS } from '../emails/held-mail.ts';
import { redeliverDue, redeliverHeld } from '../emails/orphaned-deliveries.ts';

/** Emails of one statement: others wait until its writes are on the disk. */
const CHUNK = 1_000;

/** The recipients of campaigns in parts of `CHUNK` numbers; small campaigns share a part. */
function* partsOf(campaigns: readonly { id: string; total: number }[]) {
  const part: { id: string; after: number }[] = [];
  let size = 0;
  for (const { id, total } of campaigns) {
    for (let after = 0; after < total; after += CHUNK) {
      size += Math.min(CHUNK, total - after);
      if (size > CHUNK) yield part.splice(0);
      if (part.length === 0) size = Math.min(CHUNK, total - after);
      part.push({ id, after });
    }
  }
  yield part;
}

/**
 * Lets emails ask again that rules, pools, sources or the speed of a project hold, for an outbox row of `wakeHeldMail`.
 * Transactional emails that are held meanwhile are left alone. A repetition signals the same campaigns.
 * @param projectId only those of one project
 */
export async function wakeMail(em: Em, projectId?: string): Promise<void> {
  const begun = await queryOne(em, sql`select everpost_uuid_v7()::text as before`, { before: text });
  const held = { projectId, before: begun?.before ?? '', limit: CHUNK };
  while ((await redeliverHeld(em, held)) === CHUNK);
  if (projectId !== undefined) while ((await redeliverDue(em, held)) === CHUNK);
  const sending = await query(
    em,
    sql`
      select id, project_id as "projectId", total_recipients as total from campaign
      where status = ${campaignStatus.SENDING} and audience_as_of is not null
        and (${projectId ?? null}::uuid is null or project_id = ${projectId ?? null}::uuid)`,
    { ...pick(tables.campaign, 'id', 'projectId'), total: tables.campaign.totalRecipients },
  );
  const woken = new Set<string | null>();
  for (const part of partsOf(sending)) {
    const rows = await query(
      em,
      sql`
        update email e set retry_at = least(e.retry_at, now())
        from unnest(${part.map(({ id }) => id)}::uuid[], ${part.map(({ after }) => after)}::int[]) as p (id, after)
        where e.campaign_id = p.id and e.campaign_seq > p.after and e.campaign_seq <= p.after + ${CHUNK}::int
          and e.status = ${emailStatus.PENDING} and e.wait_reason = any(${[...HELD_REASONS]}::text[])
        returning e.campaign_id as id`,
      { id: tables.email.campaignId },
    );
    for (const { id } of rows) woken.add(id);
  }
  const changed = sending.filter(({ id }) => woken.has(id));
  for (const [owner, campaigns] of Map.groupBy(changed, (campaign) => campaign.projectId)) {
    const ids = campaigns.map(({ id }) => id);
    await addToOutbox(em, 'campaign', owner, ids);
  }
}
