import { z } from 'zod';
import type { Em } from '../../shared/database/sql.ts';
import { setCampaignPublic } from '../../shared/domain/campaigns/archive.ts';
import type { Campaign } from '../../shared/domain/campaigns/campaign.entity.ts';
import { campaignHistory } from '../../shared/domain/audit/audit.ts';
import { findCampaign } from '../../shared/domain/campaigns/campaigns.ts';
import { setCampaignPaused } from '../../shared/domain/campaigns/pause.ts';
import { countResendable, resendCampaign } from '../../shared/domain/campaigns/resend.ts';
import { auditEntrySchema, auditView } from '../audit/audit.routes.ts';
import { ok, type Endpoint } from '../http/endpoint.ts';
import { campaignSchema, campaignView } from './campaign.view.ts';
import { campaignEndpoint, resendCampaignBody } from './campaigns.schemas.ts';
import { model } from '../../shared/pure/model.ts';

/** An endpoint without a body that switches something of a campaign on or off. */
function switching(
  name: string,
  summary: string,
  description: string,
  change: (em: Em, projectId: string, campaignId: string) => Promise<Campaign>,
  errors: Endpoint['errors'] = [],
): Endpoint {
  return campaignEndpoint(`${name}Campaign`, `POST /campaigns/:id/${name}`, {
    roles: ['marketing'],
    summary,
    description,
    replies: { 200: { description: 'The campaign', schema: campaignSchema } },
    errors,
    subjects: (_campaign, { id }) => [id],
    async handle({ em, project, params }) {
      return ok(campaignView(await change(em, project.id, params.id)));
    },
  });
}

const pause = switching(
  'pause',
  'Pause a campaign that is going out',
  'No further email is given to a server; deliveries under way are finished. Pausing a paused campaign changes nothing. A paused campaign can be cancelled.',
  (...of) => setCampaignPaused(...of, true),
  ['BAD_REQUEST'],
);
const resume = switching(
  'resume',
  'Let a paused campaign go on',
  'The campaign goes on with the recipients that have no outcome yet. Resuming a campaign that is not paused changes nothing.',
  (...of) => setCampaignPaused(...of, false),
  ['BAD_REQUEST', 'SENDER_DOMAIN_REFUSED'],
);
const publish = switching(
  'publish',
  "Show a campaign in the project's archive",
  'The archive shows it to everybody as soon as it is SENT, rendered without a contact. Publishing it again changes nothing.',
  (...of) => setCampaignPublic(...of, true),
);
const unpublish = switching(
  'unpublish',
  "Take a campaign out of the project's archive",
  'Links of recipients to their own emails go on working.',
  (...of) => setCampaignPublic(...of, false),
);

const resend = campaignEndpoint('resendCampaign', 'POST /campaigns/:id/resend', {
  roles: ['marketing'],
  isHeavy: true,
  summary: 'Send an ended campaign once more, to the recipients in some states',
  description:
    'Sends once to each recipient who is in one of the states now, and to nobody else. Contacts that were deleted, have unsubscribed, paused or left the topic, and suppressed addresses, are left out and keep their state. The campaign is SENDING until all have their outcome. The counters have the last outcome of each recipient.',
  isIdempotent: true,
  body: resendCampaignBody,
  replies: { 200: { description: 'The campaign, SENDING', schema: campaignSchema } },
  errors: ['BAD_REQUEST', 'SENDER_DOMAIN_REFUSED', 'TOPIC_NOT_FOUND'],
  subjects: (_campaign, { id }) => [id],
  handle: async ({ em, project, params, body }) =>
    ok(campaignView(await resendCampaign(em, project.id, params.id, body.states))),
});

const resendCheck = campaignEndpoint('checkResendCampaign', 'POST /campaigns/:id/resend/check', {
  roles: ['marketing', 'read'],
  effect: 'reads',
  isHeavy: true,
  summary: 'Tell how many would get a campaign if it were sent once more',
  body: resendCampaignBody,
  replies: {
    200: {
      description: 'The numbers at this moment',
      schema: model('ResendCheck', 'Who would get a campaign that is sent once more', {
        matching: z.int().describe('Recipients in these states'),
        receiving: z.int().describe('Those of them who may get it: not suppressed, unsubscribed, paused or deleted'),
      }),
    },
  },
  handle: async ({ em, project, params, body }) => ok(await countResendable(em, project.id, params.id, body.states)),
});

const history = campaignEndpoint('getCampaignHistory', 'GET /campaigns/:id/history', {
  roles: ['marketing', 'read'],
  summary: 'Who sent, paused, resumed, resent or cancelled a campaign, newest first',
  replies: {
    200: { description: 'The last fifty', schema: z.object({ entries: z.array(auditEntrySchema) }) },
  },
  async handle({ em, project, params }) {
    const { id } = await findCampaign(em, project.id, params.id);
    return ok({ entries: (await campaignHistory(em, project.id, id)).map(auditView) });
  },
});

export const campaignControlEndpoints: Endpoint[] = [pause, resume, resend, resendCheck, publish, unpublish, history];
