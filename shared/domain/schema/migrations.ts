import type { Migration } from '@mikro-orm/migrations';
import { InitialMigration } from './migrations/20261121000000-initial.ts';
import { AutomationsMigration } from './migrations/20261121010000-automations.ts';
import { SenderDomainDnsMigration } from './migrations/20261121020000-sender-domain-dns.ts';
import { AudienceMigration } from './migrations/20261121030000-audience.ts';
import { FeedbackMigration } from './migrations/20261121040000-feedback.ts';
import { ReconciliationMigration } from './migrations/20261121050000-reconciliation.ts';
import { RecoveryMigration } from './migrations/20261121061000-recovery.ts';
import { PublicRateMigration } from './migrations/20261122070100-public-rate.ts';
import { ContactDataLimitMigration } from './migrations/20261122070200-contact-data-limit.ts';
import { ClaimsMigration } from './migrations/20261122070300-claims.ts';
import { SegmentFaultsMigration } from './migrations/20261122070301-segment-faults.ts';
import { DeliveryAttemptsMigration } from './migrations/20261122070401-delivery-attempts.ts';
import { CampaignErrorMigration } from './migrations/20261122070500-campaign-error.ts';
import { UrgentBudgetMigration } from './migrations/20261122070501-urgent-budget.ts';
import { OutboxTurnsMigration } from './migrations/20261122070601-outbox-turns.ts';
import { AutomationChainsMigration } from './migrations/20261122070602-automation-chains.ts';
import { ReplyAddressesMigration } from './migrations/20261122070700-reply-addresses.ts';
import { KnownNamespaceMigration } from './migrations/20261130061700-known-namespace.ts';
import { KnownSecretsMigration } from './migrations/20261122070701-known-secrets.ts';
import { ErasureMigration } from './migrations/20261122070801-erasure.ts';
import { FilterFunctionsMigration } from './migrations/20261122102100-filter-functions.ts';
import { NamesPerProjectMigration } from './migrations/20261122102200-names-per-project.ts';
import { ExecutionJobsMigration } from './migrations/20261122102300-execution-jobs.ts';
import { EmailRefusalMigration } from './migrations/20261122110000-email-refusal.ts';
import { BounceUndoMigration } from './migrations/20261122130000-bounce-undo.ts';
import { ProviderHealthMigration } from './migrations/20261122140000-provider-health.ts';
import { EmailListsMigration } from './migrations/20261122150000-email-lists.ts';
import { CampaignsSendingMigration } from './migrations/20261122160000-campaigns-sending.ts';
import { ComplaintRatesMigration } from './migrations/20261122191000-complaint-rates.ts';
import { CampaignPauseMigration } from './migrations/20261122200000-campaign-pause.ts';
import { CampaignResendMigration } from './migrations/20261122201000-campaign-resend.ts';
import { EventConsequencesMigration } from './migrations/20261122205000-event-consequences.ts';
import { TrackSecretKeyMigration } from './migrations/20261122300000-track-secret-key.ts';
import { TraceContextMigration } from './migrations/20261122380000-trace-context.ts';
import { WebhooksMigration } from './migrations/20261122400000-webhooks.ts';
import { EndedExecutionsMigration } from './migrations/20261122400100-ended-executions.ts';
import { StepNumberMigration } from './migrations/20261123000000-step-number.ts';
import { EmailFillMigration } from './migrations/20261123200000-email-fill.ts';
import { UpkeepMigration } from './migrations/20261123300000-upkeep.ts';
import { BrandMigration } from './migrations/20261123500000-brand.ts';
import { SandboxEventsMigration } from './migrations/20261123501000-sandbox-events.ts';
import { EmailsByOriginMigration } from './migrations/20261124100000-emails-by-origin.ts';
import { FormerAddressesMigration } from './migrations/20261125200000-former-addresses.ts';
import { EmailsOfDeliveriesMigration } from './migrations/20261126000000-emails-of-deliveries.ts';
import { TextPiecesMigration } from './migrations/20261127000000-text-pieces.ts';
import { ExecutionCountsMigration } from './migrations/20261128000000-execution-counts.ts';
import { NoSandboxEventsMigration } from './migrations/20261129000000-no-sandbox-events.ts';
import { CompleteErasureMigration } from './migrations/20261201020000-complete-erasure.ts';
import { WebhookFeedMigration } from './migrations/20261201073100-webhook-feed.ts';
import { PublicKeyRulesMigration } from './migrations/20261201030000-public-key-rules.ts';
import { ExecutionRetriesMigration } from './migrations/20261201034100-execution-retries.ts';
import { BlockedLinksMigration } from './migrations/20261201065300-blocked-links.ts';

export interface SchemaMigration {
  name: string;
  class: new (...args: ConstructorParameters<typeof Migration>) => Migration;
  /** Whether API and workers of the version before must have ended, because they would damage data afterwards. */
  needsStop?: true;
}

/** All migrations, in the order in which they run. */
export const MIGRATIONS: readonly SchemaMigration[] = [
  { name: '20261121000000-initial', class: InitialMigration },
  { name: '20261121010000-automations', class: AutomationsMigration },
  { name: '20261121020000-sender-domain-dns', class: SenderDomainDnsMigration },
  { name: '20261121030000-audience', class: AudienceMigration },
  { name: '20261121040000-feedback', class: FeedbackMigration },
  { name: '20261121050000-reconciliation', class: ReconciliationMigration },
  { name: '20261121061000-recovery', class: RecoveryMigration },
  { name: '20261122070100-public-rate', class: PublicRateMigration },
  { name: '20261122070200-contact-data-limit', class: ContactDataLimitMigration },
  { name: '20261122070300-claims', class: ClaimsMigration },
  { name: '20261122070301-segment-faults', class: SegmentFaultsMigration },
  { name: '20261122070401-delivery-attempts', class: DeliveryAttemptsMigration },
  { name: '20261122070500-campaign-error', class: CampaignErrorMigration },
  { name: '20261122070501-urgent-budget', class: UrgentBudgetMigration },
  { name: '20261122070601-outbox-turns', class: OutboxTurnsMigration },
  { name: '20261122070602-automation-chains', class: AutomationChainsMigration },
  { name: '20261122070700-reply-addresses', class: ReplyAddressesMigration },
  { name: '20261122070701-known-secrets', class: KnownSecretsMigration },
  { name: '20261122070801-erasure', class: ErasureMigration },
  { name: '20261122102100-filter-functions', class: FilterFunctionsMigration },
  { name: '20261122102200-names-per-project', class: NamesPerProjectMigration },
  { name: '20261122102300-execution-jobs', class: ExecutionJobsMigration },
  { name: '20261122110000-email-refusal', class: EmailRefusalMigration },
  { name: '20261122130000-bounce-undo', class: BounceUndoMigration },
  { name: '20261122140000-provider-health', class: ProviderHealthMigration },
  { name: '20261122150000-email-lists', class: EmailListsMigration },
  { name: '20261122160000-campaigns-sending', class: CampaignsSendingMigration },
  { name: '20261122191000-complaint-rates', class: ComplaintRatesMigration },
  { name: '20261122200000-campaign-pause', class: CampaignPauseMigration },
  { name: '20261122201000-campaign-resend', class: CampaignResendMigration },
  { name: '20261122205000-event-consequences', class: EventConsequencesMigration, needsStop: true },
  { name: '20261122300000-track-secret-key', class: TrackSecretKeyMigration },
  { name: '20261122380000-trace-context', class: TraceContextMigration },
  { name: '20261122400000-webhooks', class: WebhooksMigration },
  { name: '20261122400100-ended-executions', class: EndedExecutionsMigration },
  { name: '20261123000000-step-number', class: StepNumberMigration },
  { name: '20261123200000-email-fill', class: EmailFillMigration },
  { name: '20261123300000-upkeep', class: UpkeepMigration },
  { name: '20261123500000-brand', class: BrandMigration },
  { name: '20261123501000-sandbox-events', class: SandboxEventsMigration },
  { name: '20261124100000-emails-by-origin', class: EmailsByOriginMigration },
  { name: '20261125200000-former-addresses', class: FormerAddressesMigration },
  { name: '20261126000000-emails-of-deliveries', class: EmailsOfDeliveriesMigration },
  { name: '20261127000000-text-pieces', class: TextPiecesMigration },
  { name: '20261128000000-execution-counts', class: ExecutionCountsMigration },
  { name: '20261129000000-no-sandbox-events', class: NoSandboxEventsMigration },
  { name: '20261201020000-complete-erasure', class: CompleteErasureMigration },
  { name: '20261201073100-webhook-feed', class: WebhookFeedMigration },
  { name: '20261130061700-known-namespace', class: KnownNamespaceMigration },
  { name: '20261201030000-public-key-rules', class: PublicKeyRulesMigration },
  { name: '20261201034100-execution-retries', class: ExecutionRetriesMigration },
  { name: '20261201065300-blocked-links', class: BlockedLinksMigration },
];
