import type { z } from 'zod';
import type { activityPageSchema, activityStatsSchema, queueSchema } from '../../activity/activity.schemas.ts';
import type { definitionSchema, listedWorkflowSchema } from '../../automations/automation.view.ts';
import type { executionDetailSchema, listedExecutionSchema } from '../../automations/execution.view.ts';
import type { auditEntrySchema } from '../../audit/audit.routes.ts';
import type { createdKeySchema, keySchema } from '../../keys/keys.schemas.ts';
import type { campaignSchema, campaignStatsSchema } from '../../campaigns/campaign.view.ts';
import type { contactListSchema } from '../../contacts/contacts.schemas.ts';
import type { contactSchema } from '../../contacts/contact.view.ts';
import type { domainSchema } from '../../domains/domain.view.ts';
import type { emailListSchema, emailSchema, emailStorySchema } from '../../emails/email.view.ts';
import type { projectSchema } from '../../projects/projects.routes.ts';
import type { segmentSchema } from '../../segments/segment.view.ts';
import type { contactTopicsSchema } from '../../contacts/contact-topics.routes.ts';
import type { suppressionListSchema, suppressionSchema } from '../../suppressions/suppressions.schemas.ts';
import type { topicSchema } from '../../topics/topics.schemas.ts';

/** The types of answers. They make the type check fail when the console does not follow a change of the API. */
export type ActivityPage = z.infer<typeof activityPageSchema>;
export type ActivityStats = z.infer<typeof activityStatsSchema>;
export type AuditEntry = z.infer<typeof auditEntrySchema>;
export type Key = z.infer<typeof keySchema>;
export type CreatedKey = z.infer<typeof createdKeySchema>;
export type Campaign = z.infer<typeof campaignSchema>;
export type CampaignStats = z.infer<typeof campaignStatsSchema>;
export type Contact = z.infer<typeof contactSchema>;
export type ContactTopics = z.infer<typeof contactTopicsSchema>;
export type ContactList = z.infer<typeof contactListSchema>;
export type Domain = z.infer<typeof domainSchema>;
export type Email = z.infer<typeof emailSchema>;
export type EmailList = z.infer<typeof emailListSchema>;
export type EmailStory = z.infer<typeof emailStorySchema>;
export type Execution = z.infer<typeof listedExecutionSchema>;
export type ExecutionDetail = z.infer<typeof executionDetailSchema>;
export type ListedWorkflow = z.infer<typeof listedWorkflowSchema>;
export type Project = z.infer<typeof projectSchema>;
export type Queue = z.infer<typeof queueSchema>;
export type Segment = z.infer<typeof segmentSchema>;
export type Suppression = z.infer<typeof suppressionSchema>;
export type SuppressionList = z.infer<typeof suppressionListSchema>;
export type Topic = z.infer<typeof topicSchema>;
export type WorkflowDefinition = z.infer<typeof definitionSchema>;

/** A page of an offset list. */
export interface OffsetPage<Item> {
  data: Item[];
  page: number;
  total: number;
  totalPages: number;
}
