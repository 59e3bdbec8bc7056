/** The workflow types, by the names they are started under. A name, once released, is never changed. */
export { automationExecution } from './automations/automation-execution.ts';
export { campaign } from './campaigns/campaign.ts';
export { domainChecks } from './domains/domain-checks.ts';
export { emailDelivery } from './emails/email-delivery.ts';
export { erasure } from './contacts/erasure.ts';
export { job } from './jobs/job.ts';
export { cleanUp } from './maintenance/clean-up.ts';
export { reconcile } from './maintenance/reconcile.ts';
export { segmentComputation } from './segments/segment-computation.ts';
export { segmentRefresh } from './segments/segment-refresh.ts';
export { webhookEndpoint } from './webhooks/webhook-endpoint.ts';
