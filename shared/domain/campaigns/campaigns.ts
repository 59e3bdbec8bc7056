import { AppError, badRequest } from '../../pure/app-error.ts';
import {
  ACTIVE_CAMPAIGN_STATUSES,
  EDITABLE_CAMPAIGN_STATUSES,
  campaignStatusesBefore,
  type CampaignStatus,
} from '../../pure/campaigns/campaign-status.ts';
import { copyName } from '../../pure/copy-name.ts';
import { searchedSpellings } from '../../pure/emails/email-address.ts';
import { LIMITS } from '../../pure/limits.ts';
import { recordPage, type RecordPage } from '../../database/record-page.ts';
import { readClock } from '../../database/clock.ts';
import { campaignStatus } from '../../database/constants.ts';
import { likePattern, query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { assertSenderDomain, holdSenderDomain } from '../domains/sender-domains.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import { contentOf, type Content } from '../templates/template.entity.ts';
import { assertTemplateSyntax } from '../templates/template-syntax.ts';
import { assertEmailTopic } from '../topics/email-topics.ts';
import { assertAudience, findFirstRecipient, holdAudience } from './audience.ts';
import { CampaignEntity, type Campaign } from './campaign.entity.ts';
import { ENDED } from './campaign-state.ts';
import { assertBelowLimit, assertRoom } from '../../database/row-limit.ts';

type Audience = Pick<Campaign, 'audienceType' | 'audienceCondition' | 'segmentId'>;
/** The fields of a campaign that a caller sets; a PUT replaces all of them. */
export type CampaignInput = Required<Content & Audience>;

export interface CampaignListQuery {
  page: number;
  pageSize: number;
  status?: CampaignStatus;
  search?: string;
  sort: 'name' | 'createdAt' | 'updatedAt';
  dir: 'asc' | 'desc';
}

/** One page of a project's campaigns. */
export async function listCampaigns(em: Em, projectId: string, list: CampaignListQuery): Promise<RecordPage<Campaign>> {
  const [pattern, ...spellings] = list.search === undefined ? [] : searchedSpellings(list.search).map(likePattern);
  const [rows, total] = await em.fork().findAndCount(
    CampaignEntity,
    {
      projectId,
      ...(list.status && { status: list.status }),
      ...(pattern !== undefined && {
        $or: [
          ...['name', 'subject', 'from'].map((field) => ({ [field]: { $ilike: pattern } })),
          ...spellings.map((spelling) => ({ from: { $ilike: spelling } })),
        ],
      }),
    },
    {
      fields: ['id'],
      orderBy: { [list.sort]: list.dir, id: list.dir },
      limit: list.pageSize,
      offset: (list.page - 1) * list.pageSize,
    },
  );
  const page = { table: 'campaign', projectId, ids: rows.map(({ id }) => id), total } as const;
  return recordPage<Campaign>(em, page, (part, ids) => part.find(CampaignEntity, { projectId, id: { $in: ids } }));
}

/** Finds a campaign of a project. @throws AppError CAMPAIGN_NOT_FOUND */
export async function findCampaign(em: Em, projectId: string, campaignId: string): Promise<Campaign> {
  const campaign = await em.findOne(CampaignEntity, { id: campaignId, projectId }, { refresh: true });
  if (!campaign) throw new AppError('CAMPAIGN_NOT_FOUND');
  return campaign;
}

async function assertSendable(em: Em, projectId: string, input: CampaignInput): Promise<void> {
  await assertTemplateSyntax(input);
  await assertEmailTopic(em, projectId, input);
  await assertAudience(em, { ...input, projectId });
  await holdSenderDomain(em, projectId, input.from);
}

/** Clears the audience fields that the audience type does not use. */
function withOwnAudience(input: CampaignInput): CampaignInput {
  return {
    ...input,
    segmentId: input.audienceType === 'SEGMENT' ? input.segmentId : null,
    audienceCondition: input.audienceType === 'FILTERED' ? input.audienceCondition : null,
  };
}

/** Checks that one more campaign may be active. @throws AppError VALIDATION_ERROR while too many others are active */
export async function assertActiveCampaignLimit(em: Em, projectId: string, campaignId: string): Promise<void> {
  await assertBelowLimit(em, {
    rows: sql`
      from campaign where project_id = ${projectId} and id <> ${campaignId}
        and status = any(${[...ACTIVE_CAMPAIGN_STATUSES]}::text[])`,
    limit: LIMITS.activeCampaignsPerProject,
    field: 'scheduledFor',
    what: 'campaigns that are scheduled or going out in a project',
  });
}

/**
 * Creates a draft.
 * @throws AppError BAD_REQUEST, VALIDATION_ERROR, SEGMENT_NOT_FOUND, TOPIC_NOT_FOUND, SENDER_DOMAIN_REFUSED
 */
export async function createCampaign(em: Em, projectId: string, input: CampaignInput): Promise<Campaign> {
  return inTransaction(em, async (tx) => {
    await assertSendable(tx, projectId, input);
    await assertRoom(tx, projectId, 'campaign');
    const campaign = tx.create(CampaignEntity, { ...withOwnAudience(input), projectId });
    await tx.flush();
    return findCampaign(tx, projectId, campaign.id);
  });
}

/** Locks a campaign's row for the transaction, so that nobody else changes its status. */
async function lockCampaign(em: Em, projectId: string, campaignId: string): Promise<Campaign> {
  await query(em, sql`select from campaign where id = ${campaignId} and project_id = ${projectId} for update`);
  return findCampaign(em, projectId, campaignId);
}

/** As `lockCampaign`, for operations that delete its pages: the pages are locked before the campaign. */
export async function lockCampaignAndPages(em: Em, projectId: string, campaignId: string): Promise<Campaign> {
  await query(
    em,
    sql`
      select from campaign_page where campaign_id = (
        select id from campaign where id = ${campaignId} and project_id = ${projectId}
      ) order by first_seq for update`,
  );
  return lockCampaign(em, projectId, campaignId);
}

/** Replaces content and audience of a campaign whose sending has not begun. @throws AppError BAD_REQUEST otherwise */
export async function replaceCampaign(
  em: Em,
  projectId: string,
  campaignId: string,
  input: CampaignInput,
): Promise<Campaign> {
  return inTransaction(em, async (tx) => {
    const campaign = await lockCampaign(tx, projectId, campaignId);
    if (!EDITABLE_CAMPAIGN_STATUSES.includes(campaign.status)) {
      throw badRequest(`A campaign that is ${campaign.status} cannot be changed`, {
        details: { status: campaign.status },
      });
    }
    await assertSendable(tx, projectId, input);
    tx.assign(campaign, withOwnAudience(input));
    await tx.flush();
    return campaign;
  });
}

/**
 * Deletes a campaign; its emails stay. @throws AppError CAMPAIGN_NOT_FOUND, CONFLICT while it is SCHEDULED or SENDING
 */
export async function deleteCampaign(em: Em, projectId: string, campaignId: string): Promise<void> {
  await inTransaction(em, async (tx) => {
    const campaign = await lockCampaignAndPages(tx, projectId, campaignId);
    if (ACTIVE_CAMPAIGN_STATUSES.includes(campaign.status)) {
      throw new AppError('CONFLICT', {
        message: `A campaign that is ${campaign.status} cannot be deleted`,
        details: { status: campaign.status },
        suggestion: 'Cancel it first',
      });
    }
    await query(tx, sql`delete from campaign where id = ${campaign.id}`);
  });
}

/**
 * Copies content and audience into a new draft, also from a campaign whose topic was deleted; the copy cannot be sent
 * before it has another one. @throws AppError CAMPAIGN_NOT_FOUND, VALIDATION_ERROR for one too many
 */
export async function duplicateCampaign(em: Em, projectId: string, campaignId: string): Promise<Campaign> {
  return inTransaction(em, async (tx) => {
    const original = await findCampaign(tx, projectId, campaignId);
    const { audienceType, audienceCondition, segmentId } = original;
    await assertRoom(tx, projectId, 'campaign');
    const copy = tx.create(CampaignEntity, {
      projectId,
      ...contentOf(original),
      name: copyName(original.name),
      audienceType,
      audienceCondition,
      segmentId,
    });
    await tx.flush();
    return findCampaign(tx, projectId, copy.id);
  });
}

/**
 * Sends a campaign now, or at `scheduledFor` when that is in the future; a scheduled one gets the new time. One
 * compare-and-set decides between simultaneous sends.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST when it is not sendable, would reach nobody now, or depends on a
 *   segment that was deleted, TOPIC_NOT_FOUND, VALIDATION_ERROR while too many are active
 */
export async function sendCampaign(
  em: Em,
  projectId: string,
  campaignId: string,
  scheduledFor: Date | null,
): Promise<Campaign> {
  return inTransaction(em, async (tx) => {
    const campaign = await findCampaign(tx, projectId, campaignId);
    const isLater = scheduledFor !== null && scheduledFor.getTime() > Date.now();
    const next: CampaignStatus = isLater ? 'SCHEDULED' : 'SENDING';
    const notSendable = ({ status }: Campaign) =>
      badRequest(`A campaign that is ${status} cannot be sent`, { details: { status } });
    if (!campaignStatusesBefore(next).includes(campaign.status)) throw notSendable(campaign);
    await assertActiveCampaignLimit(tx, projectId, campaignId);
    await assertSenderDomain(tx, projectId, campaign.from);
    await holdAudience(tx, campaign);
    if (!isLater && !(await findFirstRecipient(tx, campaign, await readClock(tx)))) {
      throw badRequest('Campaign has no recipients');
    }
    const changed = await queryOne(
      tx,
      sql`
        update campaign set status = ${next}, scheduled_for = ${isLater ? scheduledFor : null},
          scheduled_at = case when ${isLater}::boolean then now() else scheduled_at end, updated_at = now()
        where id = ${campaignId} and status = any(${campaignStatusesBefore(next)}::text[]) returning id`,
      { id: tables.campaign.id },
    );
    const current = await findCampaign(tx, projectId, campaignId);
    if (!changed) throw notSendable(current);
    await addToOutbox(tx, 'campaign', projectId, [campaignId]);
    return current;
  });
}

/** Stops a campaign for good. @throws AppError BAD_REQUEST unless it is SCHEDULED or SENDING */
export async function cancelCampaign(em: Em, projectId: string, campaignId: string): Promise<Campaign> {
  return inTransaction(em, async (tx) => {
    const changed = await queryOne(
      tx,
      sql`
        update campaign set status = ${campaignStatus.CANCELLED}, ${ENDED}
        where id = ${campaignId} and project_id = ${projectId}
          and status = any(${campaignStatusesBefore('CANCELLED')}::text[])
        returning id`,
      { id: tables.campaign.id },
    );
    const campaign = await findCampaign(tx, projectId, campaignId);
    if (!changed) {
      throw badRequest(`A campaign that is ${campaign.status} cannot be cancelled`, {
        details: { status: campaign.status },
      });
    }
    await addToOutbox(tx, 'campaign', projectId, [campaignId]);
    return campaign;
  });
}
