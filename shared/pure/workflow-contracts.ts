import type { EndedExecutionStatus } from './automations/automation-status.ts';

/** Names, ids, inputs and messages of the Temporal workflows, shared by the code that starts them and the workflows. */

export const WORKFLOW_TYPES = {
  emailDelivery: 'emailDelivery',
  scheduledEmail: 'scheduledEmail',
  campaign: 'campaign',
  job: 'job',
  erasure: 'erasure',
  segmentRefresh: 'segmentRefresh',
  domainChecks: 'domainChecks',
  automationExecution: 'automationExecution',
  cleanUp: 'cleanUp',
  tlsReports: 'tlsReports',
  reconcile: 'reconcile',
  webhookEndpoint: 'webhookEndpoint',
  optIn: 'optIn',
} as const;

/** Input of `emailDelivery`: emails of one project that were queued at about the same time. */
export interface EmailDeliveryInput {
  projectId: string;
  emailIds: string[];
  /** Set for emails of automations; absent for transactional email. */
  origin?: 'automation';
}

/** Input of `scheduledEmail`: one email. Its workflow has the id of a delivery. */
export interface ScheduledEmailInput extends EmailDeliveryInput {
  /** When it is due, in milliseconds since 1970. */
  dueAtMs: number;
}

/** Says that a scheduled email has another moment, or was cancelled. */
export const EMAIL_RESCHEDULED_SIGNAL = 'emailRescheduled';

export interface EmailRescheduled {
  /** Milliseconds since 1970; a moment in the past for an email that was cancelled. */
  dueAtMs: number;
}

/** Input of `campaign`. The optional fields are set by continue-as-new only. */
export interface CampaignInput {
  campaignId: string;
  /** The first recipient of the first page that has not been sent. */
  nextSeq?: number;
  /** Recipients of a page. It stays the same across runs, because the numbers of the pages depend on it. */
  pageSize?: number;
}

/** Input of `domainChecks`. The fields are set by continue-as-new only. */
export interface DomainChecksInput {
  afterId?: string | null;
  /** Domains due by then are checked; milliseconds since 1970. */
  asOfMs?: number;
}

/** Says that the campaign's row changed (new schedule, pause, resume, cancellation): read it again. Carries nothing. */
export const CAMPAIGN_CHANGED_SIGNAL = 'campaignChanged';
/** Query: `CampaignProgress`. For operators and tests; the API answers from PostgreSQL. */
export const CAMPAIGN_PROGRESS_QUERY = 'progress';

export interface CampaignProgress {
  phase: 'waiting' | 'freezing audience' | 'sending' | 'retrying deferred emails' | 'paused' | 'finished';
  totalRecipients: number;
  pagesDone: number;
  pagesTotal: number;
}

/** The result of the workflow `campaign`, for operators. It has counts only, because a history contains no content. */
export interface CampaignResult {
  status: string;
  totalRecipients: number;
  /** The number of emails by their outcome. */
  emails: Record<string, number>;
}

const EMAIL_DELIVERY_PREFIX = 'email/';

/**
 * The id of the workflow `emailDelivery`. A delivery has the id of its first email, so the delivery of a single email
 * is found by that email's id. A delivery of lost emails has an id of its own.
 */
export function emailDeliveryWorkflowId(deliveryId: string): string {
  return `${EMAIL_DELIVERY_PREFIX}${deliveryId}`;
}

/** The delivery id in the id of a workflow `emailDelivery`. */
export function deliveryIdOf(workflowId: string): string {
  return workflowId.slice(EMAIL_DELIVERY_PREFIX.length);
}

/** The id of the workflow `campaign`, one for each campaign. */
export function campaignWorkflowId(campaignId: string): string {
  return `campaign/${campaignId}`;
}

/** Input of `job`: an import or a bulk operation. The row of the job says what to do. */
export interface JobInput {
  jobId: string;
}

/** The id of the workflow `job`, one for each job. */
export function jobWorkflowId(jobId: string): string {
  return `job/${jobId}`;
}

/** Input of `erasure`: erases what is left of the deleted contacts of a project. */
export interface ErasureInput {
  projectId: string;
}

/** Says that contacts were deleted: look again. Carries nothing. */
export const CONTACTS_DELETED_SIGNAL = 'contactsDeleted';

/** One for each project at a time; it may begin again after it has closed. */
export function erasureWorkflowId(projectId: string): string {
  return `erasure/${projectId}`;
}

/** Input of `segmentRefresh`, started by a schedule; `startedAt` is set by continue-as-new only. */
export interface ReconcileInput {
  /** What a look is about: what has just become due, or everything that is late, which is the default. */
  reach?: 'soon' | 'late';
}

export interface SegmentRefreshInput {
  startedAt?: string;
}

/** Input of `automationExecution`: one contact's execution of an automation. The row of the execution has the rest. */
export interface AutomationExecutionInput {
  executionId: string;
  /** Names the first steps, for operators. */
  next: string;
}

/** Says that the event an execution waits for has come. The row of the wait names it; the id is for operators only. */
export const EVENT_ARRIVED_SIGNAL = 'eventArrived';

export interface EventArrived {
  eventId: string;
}

/** Says that an execution that has failed is retried. Carries nothing; the row says at which step. */
export const EXECUTION_RETRIED_SIGNAL = 'executionRetried';

/** Query: the step an execution is at, in words. For operators; the API answers from PostgreSQL. */
export const CURRENT_STEP_QUERY = 'currentStep';

/** The id of the workflow `automationExecution`, one for each execution. */
export function executionWorkflowId(executionId: string): string {
  return `execution/${executionId}`;
}

/** Why `runSteps` returned, and so what the workflow does next. `next` names the steps of the next call. */
export type AdvanceOutcome =
  | { kind: 'ended'; status: EndedExecutionStatus | 'DELETED'; failure: string | null }
  | { kind: 'delay'; label: string; untilMs: number; next: string }
  | { kind: 'wait'; label: string; untilMs: number | null; next: string }
  | { kind: 'webhook'; next: string }
  | { kind: 'more'; next: string };

/**
 * Input of `webhookEndpoint`: delivers the outstanding events to one endpoint. The row of the endpoint has the rest.
 */
export interface WebhookEndpointInput {
  endpointId: string;
  /** Set by continue-as-new only: the endpoint failed or was slow. */
  isTroubled?: boolean;
}

/** Says that there is, or may be, something to deliver: look again. Carries nothing. */
export const WEBHOOK_WOKEN_SIGNAL = 'webhookWoken';

/** One for each endpoint at a time; it may begin again after it has closed. */
export function webhookEndpointWorkflowId(endpointId: string): string {
  return `webhook/${endpointId}`;
}

/** Why `deliverWebhooks` returned, and so what the workflow does next. */
export type WebhookDeliveryOutcome =
  /** The endpoint no longer exists. */
  | { kind: 'gone' }
  /** There is more to do at once. */
  | { kind: 'more'; isTroubled: boolean }
  /** Nothing is due for `inMs` milliseconds; null when nothing is due until a signal. */
  | { kind: 'idle'; inMs: number | null; isTroubled: boolean };

/** Input of `optIn`: a subscription that waits for its confirmation. The row of the opt-in has the rest. */
export interface OptInInput {
  optInId: string;
}

/** Says that the row of an opt-in has changed: read it again. Carries nothing. */
export const OPT_IN_CHANGED_SIGNAL = 'optInChanged';

/** The id of the workflow `optIn`, one for each opt-in. */
export function optInWorkflowId(optInId: string): string {
  return `opt-in/${optInId}`;
}

/** What an opt-in waits for after `advanceOptIn`: its next moment, in milliseconds since 1970, or nothing any more. */
export type OptInOutcome =
  { kind: 'waits'; untilMs: number } | { kind: 'ended'; state: 'confirmed' | 'expired' | 'deleted' };
