import { AppError } from '../../pure/app-error.ts';
import { needsSubscription } from '../../pure/email-types.ts';
import type { FilterCondition } from '../../pure/filter-condition.ts';
import type { Em } from '../orm.ts';
import { compileFilter } from '../segments/filter-compiler.ts';
import { assertFilterSemantics } from '../segments/filter-semantics.ts';
import { loadReferencedSegments } from '../segments/segment-references.ts';
import { findSegmentsForFilter } from '../segments/segments.ts';
import { SegmentEntity } from '../segments/segment.entity.ts';
import { joinSql, query, queryOne, sql, type SqlFragment } from '../sql.ts';
import type { Campaign } from './campaign.entity.ts';
import { inTransaction } from '../transaction.ts';

type AudienceOf = Pick<Campaign, 'projectId' | 'type' | 'audienceType' | 'audienceCondition' | 'segmentId'>;

/** What messages about the condition call it: the name of its field. */
const ROOT_PATH = 'audienceCondition';

/** The condition that is true for the members of a segment. */
function membershipOf(segmentId: string): FilterCondition {
  return {
    logic: 'AND',
    groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOfSegment', value: segmentId }] }],
  };
}

function conditionOf(campaign: AudienceOf): FilterCondition | undefined {
  if (campaign.audienceType === 'FILTERED') return campaign.audienceCondition ?? undefined;
  if (campaign.audienceType === 'SEGMENT' && campaign.segmentId) return membershipOf(campaign.segmentId);
  return undefined;
}

function loadSegments(em: Em, projectId: string, condition: FilterCondition) {
  return loadReferencedSegments(condition, (ids) => findSegmentsForFilter(em, projectId, ids));
}

/**
 * Whom a campaign goes to, as a predicate over `contact c`: the audience, less unsubscribed contacts where the mail
 * needs consent.
 * @throws AppError BAD_REQUEST when the condition makes no sense
 */
export async function audiencePredicate(em: Em, campaign: AudienceOf, asOf: Date): Promise<SqlFragment> {
  const parts = [sql`c.project_id = ${campaign.projectId}`];
  if (needsSubscription(campaign.type)) parts.push(sql`c.subscribed`);
  const condition = conditionOf(campaign);
  if (condition) {
    const segments = await loadSegments(em, campaign.projectId, condition);
    const predicate = compileFilter(condition, {
      asOf,
      projectId: campaign.projectId,
      segments,
      rootPath: ROOT_PATH,
    });
    parts.push(sql`(${predicate})`);
  }
  return joinSql(parts, ' and ');
}

/** Whether a campaign sent now would reach anybody. */
export async function hasAudience(em: Em, campaign: AudienceOf): Promise<boolean> {
  const predicate = await audiencePredicate(em, campaign, new Date());
  const row = await queryOne<{ exists: boolean }>(
    em,
    sql`select exists (select from contact c where ${predicate}) as exists`,
  );
  return row?.exists ?? false;
}

/**
 * Checks the audience as a caller states it. A segment that goes away later leaves it standing: nobody is a member.
 * @throws AppError BAD_REQUEST with the place in the tree, SEGMENT_NOT_FOUND
 */
export async function assertAudience(em: Em, campaign: AudienceOf): Promise<void> {
  if (campaign.audienceType === 'SEGMENT') {
    const segment = await em.findOne(SegmentEntity, { id: campaign.segmentId ?? '', projectId: campaign.projectId });
    if (!segment) throw new AppError('SEGMENT_NOT_FOUND');
  }
  if (campaign.audienceType === 'FILTERED' && campaign.audienceCondition) {
    const segments = await loadSegments(em, campaign.projectId, campaign.audienceCondition);
    assertFilterSemantics(campaign.audienceCondition, { segments, rootPath: ROOT_PATH });
  }
}

export interface FreezeProgress {
  isComplete: boolean;
  totalRecipients: number;
}

/**
 * Takes the next contacts, by id, into the audience of a campaign that is being sent. Recipients, their numbers and the
 * place reached are committed together under the campaign's row lock, so a repeated or concurrent call goes on where
 * the last one stopped. Contacts created after the first call are not taken.
 * @returns undefined when the campaign is not being sent any more
 */
export async function freezeNextRecipients(
  em: Em,
  campaignId: string,
  chunkSize: number,
): Promise<FreezeProgress | undefined> {
  return inTransaction(em, async (tx) => {
    const campaign = await queryOne<AudienceRow>(
      tx,
      sql`
        update campaign set audience_as_of = coalesce(audience_as_of, now()) where id = ${campaignId} and status = 'SENDING'
        returning project_id as "projectId", type, audience_type as "audienceType", audience_condition as "audienceCondition",
          segment_id as "segmentId", audience_as_of as "asOf", audience_cursor as cursor, audience_frozen as "isFrozen",
          total_recipients as "total"`,
    );
    if (!campaign) return undefined;
    if (campaign.isFrozen) return { isComplete: true, totalRecipients: campaign.total };

    const predicate = await audiencePredicate(tx, campaign, campaign.asOf);
    const after = campaign.cursor === null ? sql`true` : sql`c.id > ${campaign.cursor}`;
    const taken = await queryOne<{ count: number; last: string | null }>(
      tx,
      sql`
        with chosen as materialized (
          select c.id, c.email from contact c
          where ${predicate} and ${after} and c.created_at <= ${campaign.asOf} order by c.id limit ${chunkSize}
        ),
        recipients as (
          insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at)
          select everpost_uuid_v7(), ${campaign.projectId}, id, ${campaignId},
            ${campaign.total}::int + (row_number() over (order by id))::int, email, 'PENDING', now()
          from chosen
        )
        select count(*)::int as count, max(id::text) as last from chosen`,
    );
    const count = taken?.count ?? 0;
    const isComplete = count < chunkSize;
    const totalRecipients = campaign.total + count;
    await query(
      tx,
      sql`
        update campaign set total_recipients = ${totalRecipients}, audience_frozen = ${isComplete},
          audience_cursor = coalesce(${taken?.last ?? null}::uuid, audience_cursor), updated_at = now()
        where id = ${campaignId}`,
    );
    return { isComplete, totalRecipients };
  });
}

interface AudienceRow extends AudienceOf {
  asOf: Date;
  cursor: string | null;
  isFrozen: boolean;
  total: number;
}
