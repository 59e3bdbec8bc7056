import type { Config } from '../shared/platform/config.ts';
import { automationEndpoints } from './automations/automations.routes.ts';
import { executionCountEndpoints } from './automations/execution-counts.routes.ts';
import { executionEndpoints } from './automations/executions.routes.ts';
import { stepEndpoints } from './automations/steps.routes.ts';
import { auditEndpoints } from './audit/audit.routes.ts';
import { activityEndpoints } from './activity/activity.routes.ts';
import { campaignEndpoints } from './campaigns/campaigns.routes.ts';
import { checkEndpoint } from './campaigns/check.routes.ts';
import { campaignControlEndpoints } from './campaigns/control.routes.ts';
import { recipientEndpoints } from './campaigns/recipients.routes.ts';
import { bulkContactsEndpoint } from './contacts/bulk-contacts.routes.ts';
import { bulkEndpoints } from './contacts/bulk.routes.ts';
import { consentEndpoints } from './contacts/consents.routes.ts';
import { contactExportEndpoints } from './contacts/export.routes.ts';
import { contactEndpoints } from './contacts/contacts.routes.ts';
import { contactTopicEndpoints } from './contacts/contact-topics.routes.ts';
import { fieldEndpoints } from './contacts/fields.routes.ts';
import { importEndpoints } from './contacts/imports.routes.ts';
import { lookupEndpoints } from './contacts/lookup.routes.ts';
import { deliverabilityEndpoints } from './deliverability/deliverability.routes.ts';
import { domainEndpoints } from './domains/domains.routes.ts';
import { emailContentEndpoints } from './emails/content.routes.ts';
import { emailEndpoints } from './emails/emails.routes.ts';
import { eventEndpoints } from './events/events.routes.ts';
import { exportEndpoints } from './exports/exports.routes.ts';
import { findEndpoints } from './find/find.routes.ts';
import type { Endpoint } from './http/endpoint.ts';
import { keyEndpoints } from './keys/keys.routes.ts';
import { projectEndpoints } from './projects/projects.routes.ts';
import { segmentEndpoints } from './segments/segments.routes.ts';
import { createSendEndpoints } from './send/send.routes.ts';
import { subscribeEndpoint } from './subscribe/subscribe.routes.ts';
import { suppressionEndpoints } from './suppressions/suppressions.routes.ts';
import { suppressionImportEndpoints } from './suppressions/import.routes.ts';
import { bounceUndoEndpoints } from './suppressions/undo.routes.ts';
import { previewEndpoint } from './templates/preview.routes.ts';
import { templateEndpoints } from './templates/templates.routes.ts';
import { topicEndpoints } from './topics/topics.routes.ts';
import { trackEndpoints } from './track/track.routes.ts';
import { verifyEndpoint } from './verify/verify.routes.ts';
import { webhookEndpoints } from './webhooks/webhooks.routes.ts';

/** Every endpoint, in the order of the interface document. */
export function createEndpoints(config: Config): Endpoint[] {
  return [
    ...createSendEndpoints(config),
    ...trackEndpoints,
    subscribeEndpoint,
    verifyEndpoint,
    ...exportEndpoints,
    ...lookupEndpoints,
    ...fieldEndpoints,
    ...importEndpoints,
    bulkContactsEndpoint,
    ...bulkEndpoints,
    ...contactEndpoints,
    ...consentEndpoints,
    ...contactExportEndpoints,
    ...contactTopicEndpoints,
    ...topicEndpoints,
    ...templateEndpoints,
    previewEndpoint,
    ...campaignEndpoints,
    checkEndpoint,
    ...campaignControlEndpoints,
    ...recipientEndpoints,
    ...segmentEndpoints,
    ...automationEndpoints,
    ...stepEndpoints,
    ...executionCountEndpoints,
    ...executionEndpoints,
    ...eventEndpoints,
    ...domainEndpoints,
    ...suppressionEndpoints,
    ...suppressionImportEndpoints,
    ...activityEndpoints,
    ...deliverabilityEndpoints,
    ...findEndpoints,
    ...emailEndpoints,
    ...emailContentEndpoints,
    ...bounceUndoEndpoints,
    ...webhookEndpoints,
    ...projectEndpoints,
    ...keyEndpoints,
    ...auditEndpoints,
  ];
}
