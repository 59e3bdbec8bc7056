import { setCampaignPaused } from '../../shared/domain/campaigns/pause.ts';
import { resendCampaign } from '../../shared/domain/campaigns/resend.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import { campaignSchema, campaignView } from './campaign.view.ts';
import { oneCampaign, resendCampaignBody } from './campaigns.schemas.ts';

/** Pausing and resuming. */
function pausing(name: 'pause' | 'resume', summary: string, description: string): Endpoint {
  return endpoint({
    ...oneCampaign,
    operationId: `${name}Campaign`,
    method: 'post',
    path: `/campaigns/:id/${name}`,
    summary,
    description,
    replies: { 200: { description: 'The campaign', schema: campaignSchema } },
    errors: ['CAMPAIGN_NOT_FOUND', 'BAD_REQUEST'],
    subjects: (_campaign, { id }) => [id],
    async handle({ em, project, params, deps }) {
      const campaign = await setCampaignPaused(em, project.id, params.id, name === 'pause');
      deps.wakeDispatcher();
      return ok(campaignView(campaign));
    },
  });
}

const pause = pausing(
  'pause',
  'Pause a campaign that is going out',
  'Nothing new is handed to a server; what is on the wire is finished. Pausing a paused campaign changes nothing. Cancelling works as ever.',
);
const resume = pausing(
  'resume',
  'Let a paused campaign go on',
  'It goes on with the recipients that have no outcome yet. Resuming a campaign that is not paused changes nothing.',
);

const resend = endpoint({
  ...oneCampaign,
  operationId: 'resendCampaign',
  isHeavy: true,
  method: 'post',
  path: '/campaigns/:id/resend',
  summary: 'Send a campaign that has ended again, to the recipients in some states',
  description:
    'Goes to those who are in one of the states now, once each, and to nobody else. Contacts that are gone or have unsubscribed, and suppressed addresses, are left out and keep their state. The campaign is SENDING until all have their outcome; what is counted of a recipient is what became of the last sending.',
  isIdempotent: true,
  body: resendCampaignBody,
  replies: { 200: { description: 'The campaign, SENDING', schema: campaignSchema } },
  errors: ['CAMPAIGN_NOT_FOUND', 'BAD_REQUEST', 'SENDER_DOMAIN_REFUSED'],
  subjects: (_campaign, { id }) => [id],
  async handle({ em, project, params, body, deps }) {
    const campaign = await resendCampaign(em, project.id, params.id, body.states);
    deps.wakeDispatcher();
    return ok(campaignView(campaign));
  },
});

/** The endpoints that control a campaign while it is sent or after it was sent. */
export const campaignControlEndpoints: Endpoint[] = [pause, resume, resend];
