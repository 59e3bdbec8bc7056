import { z } from 'zod';
import { CAMPAIGN_STATUSES } from '../../shared/pure/campaigns/campaign-status.ts';

const reference = { id: z.uuid(), name: z.string() };

/** A record that an answer only mentions. */
export const referenceSchema = z.object(reference).meta({ id: 'Reference', description: 'A record by id and name' });

/** A step of an automation that an answer only mentions. */
export const stepReferenceSchema = z
  .object({ ...reference, workflowId: z.uuid(), workflowName: z.string() })
  .meta({ id: 'StepReference', description: 'A step of a workflow' });

/** A campaign that an answer only mentions. */
export const campaignReferenceSchema = z
  .object({ ...reference, status: z.enum(CAMPAIGN_STATUSES) })
  .meta({ id: 'CampaignReference', description: 'A campaign by id and name' });
