import { z } from 'zod';
import {
  AUDIENCE_TYPES,
  CAMPAIGN_STATUSES,
  RESENDABLE_STATES,
  type ResendableState,
} from '../../shared/pure/campaigns/campaign-status.ts';
import { EMAIL_STATUSES } from '../../shared/pure/emails/email-types.ts';
import { recipientAddressSchema } from '../send/sender-address.ts';
import { filterConditionSchema } from '../../shared/pure/filters/filter-condition.ts';
import { offsetPageQuery, offsetPageSchema, searchQuery, sortQuery } from '../http/pagination.ts';
import { statusQuery } from '../http/status-query.ts';
import { contentFields } from '../templates/templates.schemas.ts';
import { campaignSchema } from './campaign.view.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { endpointsOf } from '../http/endpoint.ts';

/** Declares an endpoint of campaigns. The interface document wants VALIDATION_ERROR here for a malformed id. */
export const campaignEndpoint = endpointsOf('Campaigns', 'VALIDATION_ERROR', ['CAMPAIGN_NOT_FOUND']);

export const campaignListQuery = z.object({
  ...offsetPageQuery,
  status: statusQuery(CAMPAIGN_STATUSES),
  search: searchQuery,
  ...sortQuery(['createdAt', 'name', 'updatedAt']),
});

export const campaignListSchema = offsetPageSchema(campaignSchema, 'CampaignPage');

/** The body of POST and PUT. The handler answers 400 when the audience lacks the field that its type needs. */
export const campaignBody = z.object({
  ...contentFields,
  type: contentFields.type.default('MARKETING'),
  audienceType: z.enum(AUDIENCE_TYPES),
  segmentId: z.uuid().nullish(),
  audienceCondition: filterConditionSchema.nullish(),
});

export const sendCampaignBody = z.object({
  scheduledFor: z
    .union([z.string(), z.number()])
    .nullish()
    .meta({ description: 'Any date-time; omitted or null sends at once', examples: ['2026-12-24T08:00:00Z'] }),
});

const isResendable = (state: string): state is ResendableState => RESENDABLE_STATES.some((known) => known === state);

export const resendCampaignBody = z.object({
  states: z
    .array(z.string())
    .min(1)
    .max(100)
    .transform((states, context): ResendableState[] => {
      const known = states.filter(isResendable);
      const wrong = states.find((state) => !isResendable(state));
      if (wrong === undefined) return [...new Set(known)];
      const isState = EMAIL_STATUSES.some((state) => state === wrong);
      const fault = isState ? 'Recipients in this state are not sent to again' : 'This is not a state of recipients';
      context.addIssue({
        code: 'custom',
        message: `${fault}: "${wrong.slice(0, 50)}"; use ${RESENDABLE_STATES.join(', ')}`,
        params: { code: 'invalid_enum_value' },
      });
      return z.NEVER;
    })
    .meta({
      description: `States of GET /campaigns/{id}/recipients: ${RESENDABLE_STATES.join(', ')}`,
      examples: [['FAILED', 'BOUNCED']],
    }),
});

export const testCampaignBody = z.object({ email: recipientAddressSchema });

export const testCampaignSchema = z.object({
  email: z.uuid().describe('The email record'),
  to: answeredAddress,
});
