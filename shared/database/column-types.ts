import type { AutomationGraph } from '../pure/automations/automation-graph.ts';
import type { Feedback } from '../pure/events/subscription-reasons.ts';
import type { ResendableState } from '../pure/campaigns/campaign-status.ts';
import type { DoubleOptIn } from '../pure/double-opt-in.ts';
import type { Hold, WaitingReason } from '../pure/emails/hold.ts';
import type { FilterCondition } from '../pure/filters/filter-condition.ts';
import type { Language } from '../pure/languages/languages.ts';
import type { PublicKeyRules } from '../pure/public-key-rules.ts';
import type { ProjectPools, ProjectRule } from '../pure/traffic-rules.ts';

type JsonObject = Record<string, unknown>;

/** A delivery attempt in which no server accepted the email. */
export interface RecordedAttempt {
  at: string;
  verdict: 'deferred' | 'uncertain' | 'failed' | 'bounced';
  server?: string;
  words?: string;
  nextAt?: string;
}

/** What a cause names (`causeData`), and what else there is to know of a change of consent. */
interface ConsentDetails extends Partial<
  Record<'endpoint' | 'jobId' | 'workflowId' | 'executionId' | 'by' | 'topicKey' | 'pausedUntil', string>
> {
  key?: 'public' | 'secret';
  feedback?: Feedback;
}

/** Whom a message is addressed to that several recipients get, and the email whose Message-ID it has. */
export interface AddressedMessage {
  emailId: string;
  to: { address: string; name?: string };
  cc: { address: string; name?: string }[];
}

/**
 * The types that the schema does not tell: what lies in JSON, and a few texts. A type of a higher floor is added by
 * its owner: `declare module '…/database/column-types.ts' { interface ColumnTypes { … } }`.
 */
export interface ColumnTypes {
  'attachment.submission': { isTracked: boolean; isEightBit: boolean; isUtf8?: boolean; ignoresTls?: boolean };
  'automationExecution.context': JsonObject;
  'automationGraph.graph': AutomationGraph;
  'automationStep.config': JsonObject;
  'campaign.audienceCondition': FilterCondition;
  'campaign.resendStates': ResendableState[];
  'campaign.waiting': Hold;
  'consentRecord.details': ConsentDetails;
  'contact.data': JsonObject;
  'email.attempts': RecordedAttempt[];
  'email.refusal': { rule?: string; server?: string };
  'email.tags': string[];
  'email.waitReason': WaitingReason;
  'emailContent.addressed': AddressedMessage;
  'emailContent.headers': [name: string, value: string][];
  'event.data': JsonObject;
  'eventWait.eventData': JsonObject;
  'job.counts': Record<string, number>;
  'job.errors': Record<string, string | number | null>[];
  'job.input': JsonObject;
  'optIn.data': JsonObject;
  'projectPermit.holds': Partial<Record<'transactional' | 'campaign', Hold>>;
  'project.publicKeyRules': PublicKeyRules;
  'project.doubleOptIn': DoubleOptIn;
  'project.pools': ProjectPools;
  'project.trafficRules': ProjectRule[];
  'segment.condition': FilterCondition;
  'stepExecution.output': JsonObject;
  'topic.texts': Partial<Record<Language, { name: string; description?: string }>>;
}
