import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { AUDIENCE_TYPES, CAMPAIGN_STATUSES } from '../../pure/campaigns/campaign-status.ts';
import type { FilterCondition } from '../../pure/filters/filter-condition.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import { SqlFragment } from '../../database/sql.ts';
import { baseProperties } from '../../database/base-properties.ts';
import { currentHold } from '../emails/held-mail.ts';
import type { SegmentForFilter } from '../filters/segment-references.ts';
import { contentProperties } from '../templates/template.entity.ts';

export const CampaignEntity = defineEntity({
  name: 'Campaign',
  tableName: 'campaign',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    ...contentProperties,
    status: p.enum(CAMPAIGN_STATUSES).default('DRAFT'),
    audienceType: p.enum(AUDIENCE_TYPES),
    audienceCondition: p.json().$type<FilterCondition>().nullable(),
    segmentId: p.uuid().nullable(),
    scheduledFor: p.datetime(3).nullable(),
    /** When it was last scheduled; `scheduledFor` is the time to send it. */
    scheduledAt: p.datetime(3).nullable(),
    totalRecipients: p.integer().default(0),
    sentCount: p.integer().default(0),
    failedCount: p.integer().default(0),
    skippedCount: p.integer().default(0),
    suppressedCount: p.integer().default(0),
    deliveredCount: p.integer().default(0),
    openedCount: p.integer().default(0),
    clickedCount: p.integer().default(0),
    bouncedCount: p.integer().default(0),
    complainedCount: p.integer().default(0),
    /** Opens and clicks of people: machines do not count. */
    humanOpenedCount: p.integer().default(0),
    humanClickedCount: p.integer().default(0),
    /** Whether the project's archive shows it. */
    isPublic: p.boolean().default(false),
    unsubscribedCount: p.integer().default(0),
    sentAt: p.datetime(3).nullable(),
    /** Why it could not go on, and what to do. */
    error: p.text().nullable(),
    /** What it waits for now: the provider that its latest held email was for, or fewer complaints. */
    waiting: p
      .json<Hold>()
      .nullable()
      .formula((campaign) => currentHold(new SqlFragment(`${campaign.toString()}.waiting`)).sql),
    /** Set while it is paused, which only a campaign that is being sent can be. */
    pausedAt: p.datetime(3).nullable(),
    /** Whether it is sent whatever the rate of complaints is. */
    complaintsAccepted: p.boolean().default(false),
    /** The moment at which the freeze of the audience began; contacts created later are not in it. */
    audienceAsOf: p.datetime(3).nullable(),
    /** The last contact that the freeze has looked at; the next call continues after it. */
    audienceCursor: p.uuid().nullable(),
    /** The order in which its recipients are stored, and the moment of the cursor in it; null for that of their ids. */
    audienceOrder: p.text().nullable(),
    audienceBefore: p.datetime(3).nullable(),
    /** The segments that the audience depends on, as they were when the freeze began. */
    audienceSegments: p.json().$type<SegmentForFilter[]>().nullable(),
    audienceFrozen: p.boolean().default(false),
    /** The states of the recipients who are sent to again; null once all of these are queued. */
    resendStates: p.array().nullable(),
    resendAsOf: p.datetime(3).nullable(),
    resendAfterSeq: p.integer().default(0),
  },
});
export type Campaign = InferEntity<typeof CampaignEntity>;
