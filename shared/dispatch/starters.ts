import type { Client } from '@temporalio/client';
import { PRIORITIES, TASK_QUEUES } from '../pure/task-queues.ts';
import {
  CAMPAIGN_CHANGED_SIGNAL,
  CONTACTS_DELETED_SIGNAL,
  WEBHOOK_WOKEN_SIGNAL,
  WORKFLOW_TYPES,
  campaignWorkflowId,
  emailDeliveryWorkflowId,
  erasureWorkflowId,
  jobWorkflowId,
  webhookEndpointWorkflowId,
  type CampaignInput,
  type EmailDeliveryInput,
  type ErasureInput,
  type JobInput,
  type WebhookEndpointInput,
} from '../pure/workflow-contracts.ts';
import { searchAttributes } from '../platform/search-attributes.ts';
import type { Em } from '../database/em.ts';
import {
  cancelExecutionWorkflows,
  signalEventArrivals,
  startExecutionWorkflows,
  type StartPolicy,
} from './execution-starter.ts';
import { eachSubject } from './each-subject.ts';
import type { HandOver } from './hand-over.ts';
import { findCampaignSummary, findJobSummary } from './summaries.ts';
import type { OutboxKind } from '../durable/outbox/outbox.ts';
import type { OutboxBatch } from '../durable/outbox/outbox-claims.ts';

/** Hands a batch to Temporal. @throws the error of Temporal when it does not take the batch */
type Starter = (batch: OutboxBatch, handOver: HandOver) => Promise<unknown>;

/** A starter that hands all subjects of a batch over together, as one part of their traces. */
function together(start: (batch: OutboxBatch) => Promise<unknown>): Starter {
  return (batch, handOver) => handOver(batch.subjectIds, () => start(batch));
}

/** A closed workflow with the same id has already done or refused this work; a running one is doing it. */
function startPolicy(batch: OutboxBatch): StartPolicy {
  return {
    workflowIdReusePolicy: batch.isRestart ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
  };
}

/** `startPolicy` for short workflows: a worker of this process takes the first task, if it has a free slot. */
function eagerPolicy(batch: OutboxBatch, canStartEagerly: boolean): StartPolicy {
  return { ...startPolicy(batch), ...(canStartEagerly && { requestEagerStart: true }) };
}

function onlySubjectOf(batch: OutboxBatch): string {
  const [subjectId] = batch.subjectIds;
  if (subjectId === undefined) throw new Error(`outbox batch ${batch.batchId} is empty`);
  return subjectId;
}

function startDelivery(
  client: Client,
  batch: OutboxBatch,
  policy: StartPolicy,
  origin?: EmailDeliveryInput['origin'],
): Promise<unknown> {
  const input: EmailDeliveryInput = {
    projectId: batch.projectId,
    emailIds: batch.subjectIds,
    ...(origin !== undefined && { origin }),
  };
  return client.workflow.start(WORKFLOW_TYPES.emailDelivery, {
    ...policy,
    workflowId: emailDeliveryWorkflowId(batch.batchId),
    taskQueue: TASK_QUEUES.orchestration,
    args: [input],
    staticSummary: batch.subjectIds.length === 1 ? 'one email' : `${batch.subjectIds.length} emails`,
    typedSearchAttributes: searchAttributes({ projectId: batch.projectId }),
    priority: { priorityKey: PRIORITIES[origin ?? 'transactional'], fairnessKey: batch.projectId },
  });
}

async function startCampaign(em: Em, client: Client, batch: OutboxBatch): Promise<unknown> {
  const campaignId = onlySubjectOf(batch);
  const input: CampaignInput = { campaignId };
  const summary = await findCampaignSummary(em, campaignId);
  return client.workflow.signalWithStart(WORKFLOW_TYPES.campaign, {
    ...startPolicy(batch),
    workflowId: campaignWorkflowId(campaignId),
    taskQueue: TASK_QUEUES.orchestration,
    args: [input],
    signal: CAMPAIGN_CHANGED_SIGNAL,
    signalArgs: [],
    staticSummary: summary,
    typedSearchAttributes: searchAttributes({ projectId: batch.projectId, campaignId }),
    priority: { priorityKey: PRIORITIES.campaign, fairnessKey: batch.projectId },
  });
}

async function startJob(em: Em, client: Client, batch: OutboxBatch): Promise<unknown> {
  const jobId = onlySubjectOf(batch);
  const input: JobInput = { jobId };
  const summary = await findJobSummary(em, jobId);
  return client.workflow.start(WORKFLOW_TYPES.job, {
    ...startPolicy(batch),
    workflowId: jobWorkflowId(jobId),
    taskQueue: TASK_QUEUES.orchestration,
    args: [input],
    staticSummary: summary,
    typedSearchAttributes: searchAttributes({ projectId: batch.projectId }),
    priority: { priorityKey: PRIORITIES.job, fairnessKey: batch.projectId },
  });
}

/** The options for one workflow at a time: a running workflow is signalled, a closed one is started again. */
function signalOrRestart({ projectId }: OutboxBatch) {
  return {
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    taskQueue: TASK_QUEUES.orchestration,
    signalArgs: [],
    typedSearchAttributes: searchAttributes({ projectId }),
    priority: { priorityKey: PRIORITIES.job, fairnessKey: projectId },
  };
}

/** Each project has one workflow. */
function startErasure(client: Client, batch: OutboxBatch): Promise<unknown> {
  const { projectId } = batch;
  const input: ErasureInput = { projectId };
  return client.workflow.signalWithStart(WORKFLOW_TYPES.erasure, {
    ...signalOrRestart(batch),
    workflowId: erasureWorkflowId(projectId),
    args: [input],
    signal: CONTACTS_DELETED_SIGNAL,
    staticSummary: 'erase deleted contacts',
  });
}

/** Each endpoint has one workflow. */
function wakeWebhooks(client: Client, batch: OutboxBatch): Promise<unknown> {
  const wake = (endpointId: string): Promise<unknown> => {
    const input: WebhookEndpointInput = { endpointId };
    return client.workflow.signalWithStart(WORKFLOW_TYPES.webhookEndpoint, {
      ...signalOrRestart(batch),
      workflowId: webhookEndpointWorkflowId(endpointId),
      args: [input],
      signal: WEBHOOK_WOKEN_SIGNAL,
      staticSummary: 'deliver events to an endpoint',
    });
  };
  return eachSubject([...new Set(batch.subjectIds)], (endpointId) => endpointId, wake);
}

interface StartersDeps {
  em: () => Em;
  client: Client;
  /** Whether the workers of this process share the connection of the client. */
  canStartEagerly: boolean;
}

/** The starters by kind. The ids of workflows make every repetition harmless. */
export function createStarters({ em, client, canStartEagerly }: StartersDeps): Record<OutboxKind, Starter> {
  const policyOf = (batch: OutboxBatch) => eagerPolicy(batch, canStartEagerly);
  return {
    email: together((batch) => startDelivery(client, batch, policyOf(batch))),
    automationEmail: together((batch) => startDelivery(client, batch, policyOf(batch), 'automation')),
    campaign: together((batch) => startCampaign(em(), client, batch)),
    execution: (batch, handOver) =>
      startExecutionWorkflows({ em: em(), client, handOver }, batch.subjectIds, {
        ...policyOf(batch),
        isRestart: batch.isRestart,
      }),
    executionEvent: (batch, handOver) => signalEventArrivals({ em: em(), client, handOver }, batch.subjectIds),
    executionCancel: together((batch) => cancelExecutionWorkflows(client, batch.subjectIds)),
    job: together((batch) => startJob(em(), client, batch)),
    erasure: together((batch) => startErasure(client, batch)),
    webhook: together((batch) => wakeWebhooks(client, batch)),
  };
}
