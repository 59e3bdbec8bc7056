import { checkCampaign } from '../../shared/domain/campaigns/check.ts';
import { ok } from '../http/endpoint.ts';
import { campaignEndpoint } from './campaigns.schemas.ts';
import { campaignCheckSchema, campaignCheckView } from './check.view.ts';

export const checkEndpoint = campaignEndpoint('checkCampaign', 'POST /campaigns/:id/check', {
  roles: ['marketing', 'read'],
  effect: 'reads',
  isHeavy: true,
  summary: 'Tell what would happen if a campaign were sent now',
  description:
    'Counts its recipients as a send at this moment would, renders it for the first of them, and checks sender, size, links, placeholders and text. Changes nothing.',
  replies: { 200: { description: 'What was found', schema: campaignCheckSchema } },
  errors: ['BAD_REQUEST', 'TOPIC_NOT_FOUND'],
  async handle({ em, project, params, deps: { links, providerOf, config } }) {
    const { publicUrl, EMAIL_RATE_PER_SECOND: ratePerSecond } = config;
    const checkDeps = { links, providerOf, publicUrl, ratePerSecond };
    return ok(campaignCheckView(await checkCampaign(em, project, params.id, checkDeps)));
  },
});
