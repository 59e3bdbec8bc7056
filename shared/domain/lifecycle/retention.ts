import type { Config } from '../../platform/config.ts';

/** The retention that the operator has configured. */
export function retentionOf(config: Config) {
  return {
    idempotencyTtlHours: config.IDEMPOTENCY_TTL_HOURS,
    emailContents: config.RETENTION_EMAIL_CONTENT_DAYS,
    attachments: config.RETENTION_ATTACHMENTS_DAYS,
    emails: config.RETENTION_EMAILS_DAYS,
    events: config.RETENTION_EVENTS_DAYS,
    executions: config.RETENTION_EXECUTIONS_DAYS,
    jobs: config.RETENTION_JOBS_DAYS,
    webhookDeliveries: config.RETENTION_WEBHOOKS_DAYS,
    erasedContacts: config.RETENTION_ERASED_CONTACTS_DAYS,
    auditEntries: config.RETENTION_AUDIT_DAYS,
    consents: config.RETENTION_CONSENTS_DAYS,
  };
}

/** How long each kind of row is kept, in days unless the name says otherwise; 0 keeps it forever. */
export type Retention = ReturnType<typeof retentionOf>;
