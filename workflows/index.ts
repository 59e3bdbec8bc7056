// The workflow types, by the names under which they are started. A released name is never changed.
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { domainChecks } from './domains/domain-checks.ts';
import { emailDelivery } from './emails/email-delivery.ts';
import { job } from './jobs/job.ts';
import { cleanUp } from './maintenance/clean-up.ts';
import { reconcile } from './maintenance/reconcile.ts';
import { tlsReports } from './maintenance/tls-reports.ts';
import { segmentRefresh } from './segments/segment-refresh.ts';

export { automationExecution } from './automations/automation-execution.ts';
export { scheduledEmail } from './emails/email-delivery.ts';
export { campaign } from './campaigns/campaign.ts';
export { erasure } from './contacts/erasure.ts';
export { optIn } from './opt-ins/opt-in.ts';
export { webhookEndpoint } from './webhooks/webhook-endpoint.ts';
export { cleanUp, domainChecks, emailDelivery, job, reconcile, segmentRefresh, tlsReports };

/**
 * The versioning behavior of short workflows. With worker versions, a short workflow ends in the version that started
 * it. Other workflows may run for months and move to newer versions, which is the default of a worker. Without worker
 * versions no behavior may be set, because Temporal would refuse the tasks of the worker.
 */
function pinnedIfVersioned(): { versioningBehavior?: 'PINNED' } {
  return workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {};
}
setWorkflowOptions(pinnedIfVersioned, cleanUp);
setWorkflowOptions(pinnedIfVersioned, domainChecks);
setWorkflowOptions(pinnedIfVersioned, emailDelivery);
setWorkflowOptions(pinnedIfVersioned, job);
setWorkflowOptions(pinnedIfVersioned, reconcile);
setWorkflowOptions(pinnedIfVersioned, segmentRefresh);
setWorkflowOptions(pinnedIfVersioned, tlsReports);
