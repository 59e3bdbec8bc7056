import { z } from 'zod';
import { CAMPAIGN_STATUSES } from '../../shared/pure/campaigns/campaign-status.ts';
import { model } from '../../shared/pure/model.ts';

const reference = { id: z.uuid(), name: z.string() };

/** A record that an answer only mentions. */
export const referenceSchema = model('Reference', 'A record by id and name', reference);

/** A step of an automation that an answer only mentions. */
export const stepReferenceSchema = model('StepReference', 'A step of a workflow', {
  ...reference,
  workflowId: z.uuid(),
  workflowName: z.string(),
});

/** A campaign that an answer only mentions. */
export const campaignReferenceSchema = model('CampaignReference', 'A campaign by id and name', {
  ...reference,
  status: z.enum(CAMPAIGN_STATUSES),
});
