/** The workflow types, by the names they are started under. A name, once released, is never changed. */
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { domainChecks } from './domains/domain-checks.ts';
import { emailDelivery } from './emails/email-delivery.ts';
import { job } from './jobs/job.ts';
import { cleanUp } from './maintenance/clean-up.ts';
import { reconcile } from './maintenance/reconcile.ts';
import { segmentComputation } from './segments/segment-computation.ts';
import { segmentRefresh } from './segments/segment-refresh.ts';

export { automationExecution } from './automations/automation-execution.ts';
export { campaign } from './campaigns/campaign.ts';
export { erasure } from './contacts/erasure.ts';
export { webhookEndpoint } from './webhooks/webhook-endpoint.ts';
export { cleanUp, domainChecks, emailDelivery, job, reconcile, segmentComputation, segmentRefresh };

/**
 * Where workers have versions, what ends soon ends in the version that began it. The others may live for months, and go on
 * in a newer one, which is what a worker says by default. A worker without a version must not say anything of the kind:
 * Temporal refuses its tasks then.
 */
function endsSoon(): { versioningBehavior?: 'PINNED' } {
  return workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {};
}
setWorkflowOptions(endsSoon, cleanUp);
setWorkflowOptions(endsSoon, domainChecks);
setWorkflowOptions(endsSoon, emailDelivery);
setWorkflowOptions(endsSoon, job);
setWorkflowOptions(endsSoon, reconcile);
setWorkflowOptions(endsSoon, segmentComputation);
setWorkflowOptions(endsSoon, segmentRefresh);
