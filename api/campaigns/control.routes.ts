import { setCampaignPaused } from '../../shared/domain/campaigns/pause.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import { campaignSchema, campaignView } from './campaign.view.ts';
import { oneCampaign } from './campaigns.schemas.ts';

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

/** What operators do to a campaign that goes out. */
export const campaignControlEndpoints: Endpoint[] = [pause, resume];
