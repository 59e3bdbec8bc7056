import { createEmailSpool, createResultSink } from '../shared/domain/campaigns/result-sink.ts';
import { createSendingIdentities } from '../shared/domain/domains/sending-identities.ts';
import { createDkimKeyring } from '../shared/sending/compose/dkim/key-pair.ts';
import { createAutomationActivities } from './automations/automation-activities.ts';
import { createCampaignActivities } from './campaigns/campaign-activities.ts';
import { createErasureActivities } from './contacts/erasure-activities.ts';
import type { ActivityDeps } from './deps.ts';
import { createDomainActivities } from './domains/domain-activities.ts';
import { createEmailActivities } from './emails/email-activities.ts';
import { createPermitStore } from '../shared/domain/emails/permit-store.ts';
import { createDnsResolver } from '../shared/platform/dns/resolver.ts';
import { readShapingFile } from '../shared/platform/shaping-file.ts';
import { Permit } from '../shared/sending/permit/permit.ts';
import { createSandbox } from '../shared/domain/emails/sandbox.ts';
import { createDeliverySources } from '../shared/domain/emails/delivery-source.ts';
import { createSender } from '../shared/sending/sender.ts';
import { createJobActivities } from './jobs/job-activities.ts';
import { createMaintenanceActivities } from './maintenance/maintenance-activities.ts';
import { createOptInActivities } from './opt-ins/opt-in-activities.ts';
import { createReconcileActivities } from './maintenance/reconcile-activities.ts';
import { createSegmentActivities } from './segments/segment-activities.ts';
import { createWebhookActivities } from './webhooks/webhook-activities.ts';

export type { ActivityDeps } from './deps.ts';

/** Creates all activities, by name. The task queues of a worker decide which of them it serves. */
export function createActivities(deps: ActivityDeps) {
  const identities = createSendingIdentities(
    () => deps.orm.em.fork(),
    createDkimKeyring(deps.config.APP_SECRET, deps.config.APP_SECRETS_PREVIOUS),
  );
  const store = createPermitStore(() => deps.orm.em.fork(), deps.config.EMAIL_RATE_PER_SECOND);
  const permit = new Permit({
    ...deps,
    store,
    shaping: readShapingFile(deps.config.SHAPING_FILE),
    resolver: createDnsResolver({ servers: deps.config.DNS_SERVERS }),
  });
  const retrySeconds = deps.config.DELIVERY_RETRY_SECONDS;
  const send = createSender({
    pool: deps.smtp,
    permit,
    metrics: deps.metrics,
    retrySeconds,
    sandbox: createSandbox(deps),
    sink: createResultSink(() => deps.orm.em.fork(), retrySeconds),
    spool: createEmailSpool(deps),
    slots: deps.slots,
  });
  return {
    ...createEmailActivities({ ...deps, permit, send, sourceOf: createDeliverySources({ ...deps, identities }) }),
    ...createCampaignActivities({ ...deps, identities, permit, send }),
    ...createJobActivities(deps),
    ...createErasureActivities(deps),
    ...createSegmentActivities(deps),
    ...createDomainActivities(deps),
    ...createAutomationActivities(deps),
    ...createMaintenanceActivities(deps),
    ...createReconcileActivities(deps),
    ...createWebhookActivities(deps),
    ...createOptInActivities(deps),
  };
}
export type Activities = ReturnType<typeof createActivities>;
