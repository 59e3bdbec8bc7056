import type { z } from 'zod';
import { badRequest } from '../../shared/pure/app-error.ts';
import { CAMPAIGN_STATUSES } from '../../shared/pure/campaigns/campaign-status.ts';
import {
  cancelCampaign,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  findCampaign,
  listCampaigns,
  replaceCampaign,
  sendCampaign,
  type CampaignInput,
} from '../../shared/domain/campaigns/campaigns.ts';
import { continueCampaign } from '../../shared/domain/campaigns/complaint-hold.ts';
import { withReplyAddress } from '../../shared/domain/emails/reply-addresses.ts';
import { queueTestEmail } from '../../shared/domain/campaigns/test-send.ts';
import { created, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import { recordPageReply } from '../http/pagination.ts';
import { readStatus } from '../http/status-query.ts';
import { replyToUse } from '../templates/reply-to.ts';
import { campaignSchema, campaignStatsSchema, campaignStatsView, campaignView } from './campaign.view.ts';
import {
  campaignBody,
  campaignListQuery,
  campaignListSchema,
  campaignEndpoint,
  sendCampaignBody,
  testCampaignBody,
  testCampaignSchema,
} from './campaigns.schemas.ts';

/** The last millisecond of the year 9999: a date-time (RFC 3339) has a year of four digits. */
const SCHEDULED_FOR_MAX_MS = Date.UTC(10_000, 0, 1) - 1;
const DATE_LENGTH_MAX = 100;

function readScheduledFor(value: string | number | null | undefined): Date | null {
  if (value === null || value === undefined) return null;
  // Reading a text of megabytes as a date takes long.
  const date = new Date(typeof value === 'string' && value.length > DATE_LENGTH_MAX ? NaN : value);
  if (Number.isNaN(date.getTime())) {
    throw badRequest('scheduledFor is not a date-time', { details: { field: 'scheduledFor' } });
  }
  if (date.getTime() > SCHEDULED_FOR_MAX_MS) {
    throw badRequest('scheduledFor is after the year 9999', { details: { field: 'scheduledFor' } });
  }
  return date;
}

function campaignInput(body: z.infer<typeof campaignBody>): CampaignInput {
  if (body.audienceType === 'SEGMENT' && !body.segmentId) {
    throw badRequest('segmentId is required when audienceType is SEGMENT', { details: { field: 'segmentId' } });
  }
  if (body.audienceType === 'FILTERED' && !body.audienceCondition) {
    throw badRequest('audienceCondition is required when audienceType is FILTERED', {
      details: { field: 'audienceCondition' },
    });
  }
  return {
    ...body,
    description: body.description ?? null,
    text: body.text ?? null,
    preheader: body.preheader ?? null,
    fromName: body.fromName ?? null,
    replyTo: body.replyTo ?? null,
    topicId: body.topicId ?? null,
    segmentId: body.segmentId ?? null,
    audienceCondition: body.audienceCondition ?? null,
  };
}

const list = campaignEndpoint('listCampaigns', 'GET /campaigns', {
  roles: ['marketing', 'read'],
  summary: 'List campaigns',
  query: campaignListQuery,
  replies: { 200: { description: 'A page of campaigns', schema: campaignListSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, query }) {
    const status = readStatus(query.status, CAMPAIGN_STATUSES, 'a campaign status');
    return recordPageReply(await listCampaigns(em, project.id, { ...query, status }), campaignView, query);
  },
});

const create = campaignEndpoint('createCampaign', 'POST /campaigns', {
  roles: ['marketing'],
  summary: 'Create a campaign as a draft',
  body: campaignBody,
  hasEnvelope: true,
  replies: { 201: { description: 'The draft', schema: campaignSchema } },
  errors: ['SENDER_DOMAIN_REFUSED', 'SEGMENT_NOT_FOUND', 'TOPIC_NOT_FOUND'],
  async handle({ em, project, body, deps }) {
    const input = campaignInput(body);
    const use = replyToUse(deps.config, project.id, input.replyTo);
    return created(campaignView(await withReplyAddress(em, use, (tx) => createCampaign(tx, project.id, input))));
  },
});

const get = campaignEndpoint('getCampaign', 'GET /campaigns/:id', {
  roles: ['marketing', 'read'],
  summary: 'Get a campaign',
  replies: { 200: { description: 'The campaign', schema: campaignSchema } },
  handle: async ({ em, project, params }) => ok(campaignView(await findCampaign(em, project.id, params.id))),
});

const replace = campaignEndpoint('replaceCampaign', 'PUT /campaigns/:id', {
  roles: ['marketing'],
  summary: 'Replace content and audience of a campaign that has not gone out',
  body: campaignBody,
  replies: { 200: { description: 'The campaign after the change', schema: campaignSchema } },
  errors: ['SENDER_DOMAIN_REFUSED', 'SEGMENT_NOT_FOUND', 'TOPIC_NOT_FOUND'],
  async handle({ em, project, params, body, deps }) {
    const input = campaignInput(body);
    const use = replyToUse(deps.config, project.id, input.replyTo);
    const replaced = await withReplyAddress(em, use, (tx) => replaceCampaign(tx, project.id, params.id, input));
    return ok(campaignView(replaced));
  },
});

const remove = campaignEndpoint('deleteCampaign', 'DELETE /campaigns/:id', {
  roles: ['marketing'],
  summary: 'Delete a campaign that is not scheduled or going out',
  replies: { 204: { description: 'Deleted' } },
  errors: ['CONFLICT'],
  handle: ({ em, project, params }) => noContent(deleteCampaign(em, project.id, params.id)),
});

const duplicate = campaignEndpoint('duplicateCampaign', 'POST /campaigns/:id/duplicate', {
  roles: ['marketing'],
  summary: 'Copy content and audience into a new draft',
  replies: { 201: { description: 'The copy', schema: campaignSchema } },
  handle: async ({ em, project, params }) => created(campaignView(await duplicateCampaign(em, project.id, params.id))),
});

const send = campaignEndpoint('sendCampaign', 'POST /campaigns/:id/send', {
  roles: ['marketing'],
  isHeavy: true,
  summary: 'Send a campaign now or later; a scheduled one gets the new time',
  body: sendCampaignBody,
  hasEnvelope: true,
  replies: { 200: { description: 'The campaign, SENDING or SCHEDULED', schema: campaignSchema } },
  errors: ['BAD_REQUEST', 'SENDER_DOMAIN_REFUSED', 'TOPIC_NOT_FOUND'],
  subjects: (_campaign, { id }) => [id],
  async handle({ em, project, params, body }) {
    const campaign = await sendCampaign(em, project.id, params.id, readScheduledFor(body.scheduledFor));
    const message = campaign.scheduledFor
      ? `Campaign scheduled for ${campaign.scheduledFor.toISOString()}`
      : 'Campaign is being sent';
    return ok(campaignView(campaign), message);
  },
});

const cancel = campaignEndpoint('cancelCampaign', 'POST /campaigns/:id/cancel', {
  roles: ['marketing'],
  summary: 'Stop a campaign that is scheduled or going out, for good',
  replies: { 200: { description: 'The campaign, CANCELLED', schema: campaignSchema } },
  subjects: (_campaign, { id }) => [id],
  handle: async ({ em, project, params }) => ok(campaignView(await cancelCampaign(em, project.id, params.id))),
});

const continueHeld = campaignEndpoint('continueCampaign', 'POST /campaigns/:id/continue', {
  roles: ['marketing'],
  summary: 'Continue a campaign whatever the rate of complaints is',
  description:
    'A campaign is held while too many readers at a provider report emails of the project as spam; `waiting` says so.',
  replies: { 200: { description: 'The campaign, which goes on at once', schema: campaignSchema } },
  errors: ['BAD_REQUEST'],
  handle: async ({ em, project, params }) => ok(campaignView(await continueCampaign(em, project.id, params.id))),
});

const test = campaignEndpoint('testCampaign', 'POST /campaigns/:id/test', {
  roles: ['marketing'],
  summary: 'Send a test email of a campaign to one address',
  body: testCampaignBody,
  replies: { 200: { description: 'The test email is on its way', schema: testCampaignSchema } },
  errors: ['SENDER_DOMAIN_REFUSED', 'TOPIC_NOT_FOUND'],
  subjects: ({ email }: z.infer<typeof testCampaignSchema>) => [email],
  async handle({ em, project, params, body, deps: { links } }) {
    return ok({ email: await queueTestEmail(em, project, params.id, body.email, links), to: body.email });
  },
});

const stats = campaignEndpoint('getCampaignStats', 'GET /campaigns/:id/stats', {
  roles: ['marketing', 'read'],
  summary: 'Counters and rates of a campaign, as of now',
  replies: { 200: { description: 'The figures', schema: campaignStatsSchema } },
  handle: async ({ em, project, params }) => ok(campaignStatsView(await findCampaign(em, project.id, params.id))),
});

/** The campaign endpoints, in the order of the interface document. */
export const campaignEndpoints: Endpoint[] = [
  list,
  create,
  send,
  get,
  replace,
  remove,
  duplicate,
  cancel,
  continueHeld,
  test,
  stats,
];
