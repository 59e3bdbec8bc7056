import { badRequest } from '../../pure/app-error.ts';
import { campaignStatus } from '../../database/constants.ts';
import { queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { assertSenderDomain } from '../domains/sender-domains.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import type { Campaign } from './campaign.entity.ts';
import { findCampaign } from './campaigns.ts';

/**
 * Pauses a campaign that is being sent, or lets it go on. After the commit of a pause no page and no message is begun;
 * messages that are being sent get their results. A repeated call changes nothing.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST unless it is SENDING, SENDER_DOMAIN_REFUSED when it would go on without
 *   its sender domain
 */
export async function setCampaignPaused(
  em: Em,
  projectId: string,
  campaignId: string,
  isPaused: boolean,
): Promise<Campaign> {
  return inTransaction(em, async (tx) => {
    const changed = await queryOne(
      tx,
      sql`
        update campaign set paused_at = case when ${isPaused}::boolean then now() end, updated_at = now()
        where id = ${campaignId} and project_id = ${projectId} and status = ${campaignStatus.SENDING}
          and (paused_at is not null) <> ${isPaused}::boolean
        returning id`,
      { id: tables.campaign.id },
    );
    const campaign = await findCampaign(tx, projectId, campaignId);
    if (changed) {
      if (!isPaused) await assertSenderDomain(tx, projectId, campaign.from);
      await addToOutbox(tx, 'campaign', projectId, [campaignId]);
    } else if (campaign.status !== 'SENDING') {
      throw badRequest(`A campaign that is ${campaign.status} cannot be ${isPaused ? 'paused' : 'resumed'}`, {
        details: { status: campaign.status },
        suggestion: 'Only a campaign that is SENDING can be paused and resumed',
      });
    }
    return campaign;
  });
}
