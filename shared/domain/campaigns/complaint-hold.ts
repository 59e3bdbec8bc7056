import { badRequest } from '../../pure/app-error.ts';
import { ACTIVE_CAMPAIGN_STATUSES } from '../../pure/campaigns/campaign-status.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import { campaignStatus } from '../../database/constants.ts';
import { queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, tables } from '../../database/tables.ts';
import { storedHold } from '../emails/held-mail.ts';
import type { ComplaintRate } from '../emails/complaint-rates.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import type { Campaign } from './campaign.entity.ts';
import { findCampaign } from './campaigns.ts';

/** The hold of a campaign because of complaints; its words say what to do. */
export function complaintHold(campaignId: string, rate: ComplaintRate, rateMax: number, until: Date): Hold {
  const percent = ((rate.complained / rate.sent) * 100).toFixed(2);
  return {
    level: 'stream',
    reason: 'complaints',
    words:
      `${percent} % of ${rate.sent} emails of the last 7 days were reported as spam; campaigns wait at ${rateMax} %. ` +
      `Send only to people who want these emails, or let this campaign go on with POST /campaigns/${campaignId}/continue`,
    provider: rate.provider,
    until: until.toISOString(),
  };
}

/**
 * Stores why a campaign that is being sent waits. A new hold goes to its workflow by the outbox.
 * @returns whether the hold is new
 */
export async function holdCampaign(
  em: Em,
  { id, projectId }: { id: string; projectId: string },
  hold: Hold,
): Promise<boolean> {
  return inTransaction(em, async (tx) => {
    const row = await queryOne(
      tx,
      sql`
        update campaign c set waiting = ${storedHold(hold)}
        from (select id, waiting from campaign where id = ${id} for no key update) old
        where c.id = old.id and c.status = ${campaignStatus.SENDING}
        returning coalesce(old.waiting ->> 'provider' <> ${hold.provider} or old.waiting ->> 'level' <> ${hold.level}
          or (old.waiting ->> 'until')::timestamptz < now() - interval '1 minute', true) as "isNew"`,
      { isNew: boolean },
    );
    if (row?.isNew) await addToOutbox(tx, 'campaign', projectId, [id]);
    return row?.isNew ?? false;
  });
}

/**
 * Lets a campaign go on whatever its project's rate of complaints is.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST unless it is SCHEDULED or SENDING
 */
export async function continueCampaign(em: Em, projectId: string, campaignId: string): Promise<Campaign> {
  const campaign = await inTransaction(em, async (tx) => {
    const accepted = await queryOne(
      tx,
      sql`
        update campaign set complaints_accepted = true, waiting = null, updated_at = now()
        where id = ${campaignId} and project_id = ${projectId} and not complaints_accepted
          and status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[])
        returning id`,
      { id: tables.campaign.id },
    );
    if (accepted) await addToOutbox(tx, 'campaign', projectId, [campaignId]);
    return findCampaign(tx, projectId, campaignId);
  });
  if (ACTIVE_CAMPAIGN_STATUSES.includes(campaign.status)) return campaign;
  throw badRequest(`A campaign that is ${campaign.status} cannot continue`, { details: { status: campaign.status } });
}
