import { AppError, badRequest } from '../../pure/app-error.ts';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import { hasConsented, purposeOf, type IdRange } from '../consent/consent.ts';
import { compileFilter } from '../filters/filter-compiler.ts';
import { assertFilterSemantics } from '../filters/filter-semantics.ts';
import { assertFilterSize } from '../filters/filter-size.ts';
import { assertSegmentsExist, loadReferencedSegments, type SegmentForFilter } from '../filters/segment-references.ts';
import { findEmailTopic } from '../topics/email-topics.ts';
import { joinSql, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { pick, tables, type RowOf } from '../../database/tables.ts';
import type { Campaign } from './campaign.entity.ts';

/** The audience of a campaign, as the caller states it. */
export type StatedAudience = Pick<
  Campaign,
  'projectId' | 'type' | 'topicId' | 'audienceType' | 'audienceCondition' | 'segmentId'
>;

/** The field of the condition, for error messages. */
const ROOT_PATH = 'audienceCondition';

/** The condition that is true for the members of a segment. */
function membershipOf(segmentId: string): FilterCondition {
  return {
    logic: 'AND',
    groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOfSegment', value: segmentId }] }],
  };
}

function conditionOf(campaign: StatedAudience): FilterCondition | undefined {
  if (campaign.audienceType === 'FILTERED') return campaign.audienceCondition ?? undefined;
  if (campaign.audienceType === 'SEGMENT' && campaign.segmentId) return membershipOf(campaign.segmentId);
  return undefined;
}

/** The segments that an audience depends on, by their ids. */
export type AudienceSegments = ReadonlyMap<string, SegmentForFilter>;

/** @throws AppError BAD_REQUEST naming a segment that was deleted */
function assertAudienceExists(campaign: StatedAudience, segments: AudienceSegments): void {
  const { audienceType, segmentId } = campaign;
  if (audienceType === 'SEGMENT' && segmentId && !segments.has(segmentId)) {
    throw badRequest('The segment that is the audience was deleted', {
      details: { segmentId },
      suggestion: 'Give the campaign another audience',
    });
  }
  assertSegmentsExist(conditionOf(campaign), segments);
}

/**
 * Checks that the segments and the topics of a stored audience still exist. Until the transaction ends, the segments
 * cannot be deleted.
 * @throws AppError BAD_REQUEST naming a segment or a topic of the condition, TOPIC_NOT_FOUND
 */
export async function holdAudience(tx: Em, campaign: StatedAudience): Promise<void> {
  await findEmailTopic(tx, campaign.projectId, campaign.topicId);
  assertAudienceExists(campaign, await findAudienceSegments(tx, campaign, true));
}

/**
 * The segments that the audience of a campaign depends on, as they are now.
 * @param isHeld whether they cannot be deleted until the transaction ends
 * @throws AppError BAD_REQUEST when the condition names a topic that does not exist
 */
export async function findAudienceSegments(em: Em, campaign: StatedAudience, isHeld = false) {
  const condition = conditionOf(campaign);
  if (!condition) return new Map<string, SegmentForFilter>();
  const options = { isLive: true, isHeld, rootPath: ROOT_PATH };
  return loadReferencedSegments(em, campaign.projectId, condition, options);
}

/** What is known when an audience is looked for. */
interface KnownAudience {
  /** Among whom it is looked for. */
  range?: IdRange | undefined;
  /** The segments that it depends on; by default as they are now. */
  segments?: AudienceSegments;
}

/**
 * The recipients of a campaign, as a predicate over `contact c`: the audience, less the contacts who have not consented
 * to such email and its topic.
 * @throws AppError BAD_REQUEST when the condition makes no sense, TOPIC_NOT_FOUND
 */
export async function audiencePredicate(
  em: Em,
  campaign: StatedAudience,
  asOf: Date,
  { range, segments }: KnownAudience = {},
) {
  const topic = await findEmailTopic(em, campaign.projectId, campaign.topicId);
  const stated = await statedAudiencePredicate(em, campaign, asOf, segments);
  return sql`${hasConsented(purposeOf(campaign.type), topic, range)} and ${stated}`;
}

/** As `audiencePredicate`, with the contacts who have not consented. @throws AppError BAD_REQUEST */
export async function statedAudiencePredicate(
  em: Em,
  campaign: StatedAudience,
  asOf: Date,
  known?: AudienceSegments,
): Promise<SqlFragment> {
  const parts = [sql`c.project_id = ${campaign.projectId}`];
  const condition = conditionOf(campaign);
  if (condition) {
    const segments = known ?? (await findAudienceSegments(em, campaign));
    assertAudienceExists(campaign, segments);
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

/** A contact as templates see it. */
const FIRST_RECIPIENT = pick(tables.contact, 'id', 'email', 'subscribed', 'data');
export type FirstRecipient = RowOf<typeof FIRST_RECIPIENT>;

/** The oldest contact that a campaign would reach; undefined when it would reach nobody. @throws AppError BAD_REQUEST */
export async function findFirstRecipient(
  em: Em,
  campaign: StatedAudience,
  asOf: Date,
): Promise<FirstRecipient | undefined> {
  // Only an index of the project has this order. Without one, PostgreSQL may go through the contacts of all projects.
  return queryOne(
    em,
    sql`
      select c.id, c.email, c.subscribed, c.data from contact c where ${await audiencePredicate(em, campaign, asOf)}
      order by c.created_at, c.id limit 1`,
    FIRST_RECIPIENT,
  );
}

/**
 * Checks the audience as a caller states it. Until the transaction ends, its segments cannot be deleted.
 * @throws AppError BAD_REQUEST with the path in the condition, SEGMENT_NOT_FOUND
 */
export async function assertAudience(tx: Em, campaign: StatedAudience): Promise<void> {
  const condition = conditionOf(campaign);
  if (!condition) return;
  if (campaign.audienceType === 'FILTERED') assertFilterSize(condition, ROOT_PATH);
  const segments = await loadReferencedSegments(tx, campaign.projectId, condition, {
    isLive: false,
    rootPath: ROOT_PATH,
  });
  if (campaign.audienceType === 'FILTERED') assertFilterSemantics(condition, { segments, rootPath: ROOT_PATH });
  else if (!segments.has(campaign.segmentId?.toLowerCase() ?? '')) throw new AppError('SEGMENT_NOT_FOUND');
}
